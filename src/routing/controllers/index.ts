// The controllers of routing, one for each kind.
import type { ControllerDefinition } from '../../controller/index.ts';
import { BACKENDS } from '../backends/index.ts';
import { routingModels } from '../models/index.ts';
import { awsBackend } from './aws.ts';
import { groupController } from './group.ts';
import { meshController } from './mesh.ts';
import { objectBackend } from './objects.ts';
import { ruleController } from './rule.ts';
import { defaultSettings } from './settings.ts';
import type { Settings } from './settings.ts';

export function routing(settings: Partial<Settings> = {}): readonly ControllerDefinition[] {
  const { backend: name, awsEndpoint, ...options } = { ...defaultSettings, ...settings };
  const models = routingModels(options, BACKENDS[name]);
  const { mode } = options;
  const { plans, objects, bodies } = models;
  const backend = name === 'appmesh-api' ? awsBackend(plans, bodies, awsEndpoint) : objectBackend(plans, objects);
  return [meshController(models, backend, mode), ruleController(models, backend, mode), groupController(mode)];
}
