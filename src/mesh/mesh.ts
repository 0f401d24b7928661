// The controllers of the mesh.
import type { ControllerDefinition } from '../controller/index.ts';
import { istioController } from './controller.ts';
import type { MeshParts } from './controller.ts';
import { meshModels } from './models.ts';
import { meshRestarts } from './restarts/index.ts';
import { defaultMeshSettings } from './settings.ts';
import type { MeshSettings } from './settings.ts';

/** The shared dependencies of the controllers. */
export function meshParts(changes: Partial<MeshSettings> = {}): MeshParts {
  const { isSimulated = false } = changes.renderer ?? {};
  const settings = { ...defaultMeshSettings, ...(isSimulated && { reconnectMs: 0 }), ...changes };
  return { models: meshModels(settings), restarts: meshRestarts(settings), settings };
}

export function mesh(changes: Partial<MeshSettings> = {}): readonly ControllerDefinition[] {
  const parts = meshParts(changes);
  return [istioController(parts), ...parts.restarts.controllers];
}
