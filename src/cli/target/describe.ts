// `offshoot target describe`: shows a target as a tree.
import { describeTarget, phaseOf, targetWorld } from '../../targets/index.ts';
import { TARGET } from '../claim/nouns.ts';
import { describeObject, treeOutput } from '../objects/describe.ts';
import type { DescribeOptions } from '../objects/describe.ts';

export function describeTargetCommand(name: string, options: DescribeOptions): Promise<void> {
  return describeObject(TARGET, name, options, {
    describe: (read, target) => describeTarget(targetWorld(read, target)),
    ...treeOutput('target', (target) =>
      phaseOf(target) === 'Available'
        ? `offshoot claim create NAME -n ${target.metadata.namespace} --target ${name} --wait`
        : undefined,
    ),
  });
}
