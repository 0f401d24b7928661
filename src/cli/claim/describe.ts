// `offshoot claim describe`: everything about a claim, as a tree.
import { claimWorld, describeClaim, phaseOf } from '../../targets/index.ts';
import { describeObject, tellTree } from '../objects/describe.ts';
import type { DescribeOptions } from '../objects/describe.ts';
import { CLAIM } from './nouns.ts';

/** Prints the tree of a claim. */
export function describeClaimCommand(name: string, options: DescribeOptions): Promise<void> {
  return describeObject(CLAIM, name, options, {
    describe: (read, claim) => describeClaim(claimWorld(read, claim)),
    ...tellTree('claim', (claim) =>
      phaseOf(claim) === 'Bound'
        ? `offshoot claim kubeconfig ${name} -n ${claim.metadata.namespace} > kubeconfig`
        : undefined,
    ),
  });
}
