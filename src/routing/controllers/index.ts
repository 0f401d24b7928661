// The controllers of routing, one duty each.
import type { ControllerDefinition } from '../../controller/index.ts';
import { routingModels } from '../models/index.ts';
import { groupController } from './group.ts';
import { meshController } from './mesh.ts';
import { ruleController } from './rule.ts';
import { defaultSettings } from './settings.ts';
import type { Settings } from './settings.ts';

export function routing(settings: Partial<Settings> = {}): readonly ControllerDefinition[] {
  const models = routingModels({ ...defaultSettings, ...settings });
  return [meshController(models), ruleController(models), groupController()];
}
