// The controllers of the mesh.
import type { ControllerDefinition } from '../controller/index.ts';
import { istioController } from './controller.ts';
import { meshModels } from './models.ts';
import { restartControllers } from './restarts/index.ts';
import { defaultMeshSettings } from './settings.ts';
import type { MeshSettings } from './settings.ts';

export function mesh(settings: Partial<MeshSettings> = {}): readonly ControllerDefinition[] {
  const all = { ...defaultMeshSettings, ...settings };
  return [istioController(meshModels(all), all), ...restartControllers(all)];
}
