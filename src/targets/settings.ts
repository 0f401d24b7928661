// What an operator may set for claims and targets: where two generations of the originals differ, which one to follow.

export interface Settings {
  /** Whether a deleted claim waits until its target is gone, or goes at once. */
  readonly claimDeletion: 'wait' | 'eager';
  /** What the provisioner annotation of a claim holds: the provisioner's name, or the class's. */
  readonly provisionerAnnotation: 'provisioner' | 'class';
  /** Whether a lost claim is bound again to any target of the name, or only to the one that it had or that names it. */
  readonly lostHeals: 'reference' | 'name';
}

export const defaultSettings: Settings = {
  claimDeletion: 'wait',
  provisionerAnnotation: 'provisioner',
  lostHeals: 'reference',
};
