// Where a mesh is written to: objects of the App Mesh controller, or AWS itself. The controllers know no more of it.
import type { Chore, View } from '../../controller/index.ts';
import type { Problem } from '../errors.ts';
import type { Guards } from '../reconcile/decide.ts';
import type { Reconciliation } from './objects.ts';

export interface MeshBackend {
  /** What is done beside plans. */
  readonly chores: readonly Chore[];
  /** Brings a mesh to what it should be; of one that ends, takes away everything that was made for it. */
  reconcile(view: View, mesh: string, guards: Guards): MeshProgress;
  /** Whether the routes of a host are in place. */
  isProgrammed(view: View, mesh: string, host: string): boolean;
}

export interface MeshProgress extends Reconciliation {
  /** Why the back end can make nothing of the mesh. */
  readonly rejected?: Problem;
  readonly warnings: readonly Problem[];
  /** It is not known yet what came of it. */
  readonly isPending?: boolean;
}

export const NOTHING: MeshProgress = { steps: [], problems: [], isGone: false, warnings: [] };
