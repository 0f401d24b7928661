// The description of an object, as data: a tree of its parts with their state and progress. The rooms build it; the
// command line prints it, and the dashboard draws it.

import type { RecentEvent } from './events.ts';

/** The parts of an object as a tree, and its recent Events. */
export interface Description {
  readonly tree: TreeNode;
  readonly events: readonly RecentEvent[];
}

/** One part of an object, with its state and problems. */
export interface TreeNode {
  readonly kind: string;
  readonly name: string;
  readonly state: string;
  /** Shown beside the state. */
  readonly detail?: string;
  /** Why it is not as it should be. */
  readonly reasons?: readonly string[];
  readonly children?: readonly TreeNode[];
}

/** Makes a tree node without empty fields and duplicate reasons. */
export function node(
  kind: string,
  name: string,
  state: string,
  rest: Omit<TreeNode, 'kind' | 'name' | 'state'> = {},
): TreeNode {
  const { detail = '', reasons = [], children = [] } = rest;
  return {
    kind,
    name,
    state,
    ...(detail !== '' && { detail }),
    ...(reasons.length > 0 && { reasons: [...new Set(reasons)] }),
    ...(children.length > 0 && { children }),
  };
}

/** All problems in a tree, each with its part. */
export function problemsOf({ kind, name, reasons = [], children = [] }: TreeNode): string[] {
  return [...reasons.map((reason) => `${kind} ${name}: ${reason}`), ...children.flatMap(problemsOf)];
}

/** The progress of one part of an object. */
export interface ProgressStep {
  /** Names the part; stays the same over time. */
  readonly label: string;
  readonly state: 'waiting' | 'working' | 'done' | 'failed';
  /** The current state in words. */
  readonly note: string;
}
