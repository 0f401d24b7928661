// What every object of an installation is made from, and the names that they share.
import type { Values } from './values.ts';

export interface Installation {
  readonly values: Values;
  readonly namespace: string;
  /** That of the program, and of its image unless the values name another. */
  readonly version: string;
  /** The label app.kubernetes.io/managed-by. */
  readonly managedBy: string;
}

/** Names are the same in every cluster: of two installations in one, the second finds the first. */
export const NAME = 'offshoot';
export const SELECTOR = { 'app.kubernetes.io/name': NAME };
