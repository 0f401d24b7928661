// The controllers of the mesh.
import type { ControllerDefinition } from '../controller/index.ts';
import { istioController } from './controller.ts';
import { meshModels } from './models.ts';
import { meshRestarts } from './restarts/index.ts';
import { defaultMeshSettings } from './settings.ts';
import type { MeshSettings } from './settings.ts';

export function mesh(changes: Partial<MeshSettings> = {}): readonly ControllerDefinition[] {
  const settings = { ...defaultMeshSettings, ...changes };
  const restarts = meshRestarts(settings);
  return [istioController({ models: meshModels(settings), restarts, settings }), ...restarts.controllers];
}
