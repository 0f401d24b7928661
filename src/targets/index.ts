// Targets: the controllers that bind claims, make targets for them and free what they stood for, one duty each.
import type { ControllerDefinition } from '../controller/index.ts';
import { binder } from './binder.ts';
import { reclaimer } from './reclaimer.ts';
import { defaultSettings } from './settings.ts';
import type { Settings } from './settings.ts';

/** All controllers of the claim system. */
export function targets(settings: Partial<Settings> = {}): ControllerDefinition[] {
  return [binder({ ...defaultSettings, ...settings }), reclaimer()];
}

export { defaultSettings } from './settings.ts';
export type { Settings } from './settings.ts';
