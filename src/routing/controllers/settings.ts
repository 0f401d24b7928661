// What the routing controllers can be told, and what they do by default.
import type { TranslateOptions } from '../translate.ts';

export type Settings = TranslateOptions;

export const defaultSettings: Settings = { mode: 'strict', allowAll: true };
