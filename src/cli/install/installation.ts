// The input of all objects of an installation, and the names that they share.
import type { Values } from './values.ts';

export interface Installation {
  readonly values: Values;
  readonly namespace: string;
  /** The version of the program, and the default tag of its image. */
  readonly version: string;
  /** The label app.kubernetes.io/managed-by. */
  readonly managedBy: string;
}

/** Names are the same in every cluster, so that a second installation finds the first. */
export const NAME = 'offshoot';
export const SELECTOR = { 'app.kubernetes.io/name': NAME };
