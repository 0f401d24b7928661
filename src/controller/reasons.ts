// What the reasons of conditions mean, and what to do about them. Each part has its own catalogue, and the types of its
// conditions allow no other reason; the troubleshooting page is generated from all of them.

export interface ReasonEntry {
  readonly meaning: string;
  /** What to check and to do; empty if there is nothing to do. */
  readonly advice: string;
}

/** By the type of the condition, then by its reason. */
export type ReasonCatalogue = Readonly<Record<string, Readonly<Record<string, ReasonEntry>>>>;

/** For a reconcile that failed as a whole, for objects of every kind. */
export const FAILURE_REASONS = {
  Stalled: {
    ApplyFailed: {
      meaning: 'The API server rejected a write. The message shows the error.',
      advice:
        'Check permissions, quotas, policies and the admission webhook that the message names. The write is retried.',
    },
    PlanFailed: {
      meaning: 'The controller failed to plan its writes. This is a bug in Offshoot; the object is left unchanged.',
      advice: 'Report it with a support bundle (`offshoot support-bundle`).',
    },
  },
} as const satisfies ReasonCatalogue;
