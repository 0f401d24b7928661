// `offshoot claim describe`: shows a claim as a tree.
import { claimWorld, describeClaim, verdictOf } from '../../targets/index.ts';
import { describeObject, treeOutput } from '../objects/describe.ts';
import type { DescribeOptions } from '../objects/describe.ts';
import { CLAIM } from './nouns.ts';

export function describeClaimCommand(name: string, options: DescribeOptions): Promise<void> {
  return describeObject(CLAIM, name, options, {
    describe: (read, claim) => describeClaim(claimWorld(read, claim)),
    ...treeOutput('claim', (claim) =>
      verdictOf(claim).is === 'bound'
        ? `offshoot claim kubeconfig ${name} -n ${claim.metadata.namespace} > kubeconfig`
        : undefined,
    ),
  });
}
