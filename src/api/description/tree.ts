// What a user is told about an object, as data: a tree of its parts, how far each is, what goes with it. The rooms make
// these; the command line prints them, and a dashboard draws them.

import type { RecentEvent } from './events.ts';

/** A tree of what something consists of, and what happened to it. */
export interface Description {
  readonly tree: TreeNode;
  readonly events: readonly RecentEvent[];
}

/** One part of something, with its state and why it is not as it should be. */
export interface TreeNode {
  readonly kind: string;
  readonly name: string;
  readonly state: string;
  /** What a person wants to see beside the state. */
  readonly detail?: string;
  /** Why it is not as it should be. */
  readonly reasons?: readonly string[];
  readonly children?: readonly TreeNode[];
}

/** A part; what is empty is left out, and no reason is given twice. */
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

/** Everything in a tree that is not as it should be: the part, and why. */
export function problemsOf({ kind, name, reasons = [], children = [] }: TreeNode): string[] {
  return [...reasons.map((reason) => `${kind} ${name}: ${reason}`), ...children.flatMap(problemsOf)];
}

/** How far one part of something is. */
export interface ProgressStep {
  /** Names the part; stays the same over time. */
  readonly label: string;
  readonly state: 'waiting' | 'working' | 'done' | 'failed';
  /** How it is now. */
  readonly note: string;
}
