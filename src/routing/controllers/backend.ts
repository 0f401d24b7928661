// Where a mesh is written to: objects of the App Mesh controller, or AWS itself. Controllers use only this interface.
import type { Chore, View } from '../../controller/index.ts';
import type { Problem } from '../errors.ts';
import type { Guards } from '../reconcile/decide.ts';
import type { Reconciliation } from './objects.ts';

export interface MeshBackend {
  /** Work that runs outside of plans. */
  readonly chores: readonly Chore[];
  /** Brings a mesh to its desired state, or removes everything that was made for it if it is being deleted. */
  reconcile(view: View, mesh: string, guards: Guards): MeshProgress;
  /** Whether the routes of a host are in place. */
  isProgrammed(view: View, mesh: string, host: string): boolean;
}

export interface MeshProgress extends Reconciliation {
  /** Why the back end cannot translate the mesh. */
  readonly rejected?: Problem;
  readonly warnings: readonly Problem[];
  /** The outcome is not known yet. */
  readonly isPending?: boolean;
}

export const NOTHING: MeshProgress = { steps: [], problems: [], isGone: false, warnings: [] };
