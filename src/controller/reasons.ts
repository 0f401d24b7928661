// What the reasons of conditions mean, and what to do about them. Each part has a catalogue of its own, and the types of
// its conditions allow no other reason; the page on troubleshooting is written from all of them.

export interface ReasonEntry {
  readonly meaning: string;
  /** What to look at and to do; empty where there is nothing to do. */
  readonly advice: string;
}

/** By the type of the condition, then by its reason. */
export type ReasonCatalogue = Readonly<Record<string, Readonly<Record<string, ReasonEntry>>>>;

/** Of a reconcile that failed as a whole, for objects of every kind. */
export const FAILURE_REASONS = {
  Stalled: {
    ApplyFailed: {
      meaning: 'The API server refused a write. The message has its words.',
      advice:
        'Look for a missing right, a quota, a policy or an admission webhook that the message names. The write is tried again.',
    },
    PlanFailed: {
      meaning: 'The controller failed to make a plan. This is a bug in Offshoot; the object is left as it is.',
      advice: 'Report it with a support bundle (`offshoot support-bundle`).',
    },
  },
} as const satisfies ReasonCatalogue;
