// The condition reasons of rules, meshes and groups, in addition to the codes of diagnostics.
import type { ReasonCatalogue } from '../controller/index.ts';
import type { CODES } from './codes.ts';

export const REASONS = {
  Accepted: {
    Accepted: { meaning: 'The object could be translated.', advice: '' },
  },
  Programmed: {
    Programmed: { meaning: 'Everything that follows from the object has been written.', advice: '' },
    Pending: { meaning: 'The object is being written.', advice: 'Wait.' },
    Rejected: {
      meaning: 'The object is not written, or only in part.',
      advice: 'Look at the condition `Accepted`: its reason is a code.',
    },
  },
  Ready: {
    Ready: { meaning: 'All of the object is in effect.', advice: '' },
    Programmed: { meaning: 'Everything that follows from the object has been written.', advice: '' },
    Pending: { meaning: 'The object is being written.', advice: 'Wait.' },
    PartiallyTranslated: {
      meaning: 'A part of the object is left out.',
      advice: 'Look at the condition `PartiallyTranslated`: its reason is a code.',
    },
  },
} as const satisfies ReasonCatalogue;

type Own = { [T in keyof typeof REASONS]: keyof (typeof REASONS)[T] }[keyof typeof REASONS];
export type Reason = Own | keyof typeof CODES;
