// `offshoot target describe`: everything about a target, as a tree.
import { describeTarget, phaseOf, targetWorld } from '../../targets/index.ts';
import { TARGET } from '../claim/nouns.ts';
import { describeObject, tellTree } from '../objects/describe.ts';
import type { DescribeOptions } from '../objects/describe.ts';

/** Prints the tree of a target. */
export function describeTargetCommand(name: string, options: DescribeOptions): Promise<void> {
  return describeObject(TARGET, name, options, {
    describe: (read, target) => describeTarget(targetWorld(read, target)),
    ...tellTree('target', (target) =>
      phaseOf(target) === 'Available'
        ? `offshoot claim create NAME -n ${target.metadata.namespace} --target ${name} --wait`
        : undefined,
    ),
  });
}
