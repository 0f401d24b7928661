// The controllers of the mesh.
import type { ControllerDefinition } from '../controller/index.ts';
import { istioController } from './controller.ts';
import { meshModels } from './models.ts';
import { meshRestarts } from './restarts/index.ts';
import { defaultMeshSettings } from './settings.ts';
import type { MeshSettings } from './settings.ts';

export function mesh(settings: Partial<MeshSettings> = {}): readonly ControllerDefinition[] {
  const all = { ...defaultMeshSettings, ...settings };
  const restarts = meshRestarts(all);
  return [istioController(meshModels(all), restarts, all), ...restarts.controllers];
}
