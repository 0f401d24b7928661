// `offshoot claim describe` and `offshoot target describe`: everything about one of them, as a tree.
import { CLAIM, TARGET } from './nouns.ts';
import { claimWorld, describeClaim, describeTarget, phaseOf, targetWorld } from '../../targets/index.ts';
import type { Description } from '../../targets/index.ts';
import { painter } from '../terminal/colour.ts';
import type { Paint } from '../terminal/colour.ts';
import { getByName } from '../objects/find.ts';
import { withConnection } from '../options.ts';
import type { ClusterOptions } from '../options.ts';
import { dataText } from '../terminal/output.ts';
import { eventLines } from '../terminal/events.ts';
import { fetchFor } from '../objects/fetch.ts';
import { treeLines } from '../terminal/tree.ts';

export interface ClaimDescribeOptions extends ClusterOptions {
  readonly output?: 'json' | 'yaml';
}

/** Prints the tree of a claim. */
export function describeClaimCommand(name: string, options: ClaimDescribeOptions): Promise<void> {
  return withConnection(options, async ({ client, namespace }) => {
    const claim = await getByName(client, CLAIM, { name, namespace });
    const { tree, events } = await fetchFor(client, (read) => describeClaim(claimWorld(read, claim)));
    if (options.output !== undefined)
      return void process.stdout.write(dataText(options.output, { claim: tree, events }));
    const use = `offshoot claim kubeconfig ${name} -n ${namespace} > kubeconfig`;
    print({ tree, events }, phaseOf(claim) === 'Bound' ? ['', `Use  ${use}`] : []);
  });
}

/** Prints the tree of a target. */
export function describeTargetCommand(name: string, options: ClaimDescribeOptions): Promise<void> {
  return withConnection(options, async ({ client, namespace }) => {
    const target = await getByName(client, TARGET, { name, namespace });
    const { tree, events } = await fetchFor(client, (read) => describeTarget(targetWorld(read, target)));
    if (options.output !== undefined)
      return void process.stdout.write(dataText(options.output, { target: tree, events }));
    const isFree = phaseOf(target) === 'Available';
    const use = `offshoot claim create NAME -n ${namespace} --target ${name} --wait`;
    print({ tree, events }, isFree ? ['', `Use  ${use}`] : []);
  });
}

function print(description: Description, more: readonly string[]): void {
  console.log(descriptionLines(description, more, painter(process.stdout), Date.now()).join('\n'));
}

/** A description as lines of text, with what else is to be said between the tree and the events. */
export function descriptionLines(
  { tree, events }: Description,
  more: readonly string[],
  paint: Paint,
  now: number,
): string[] {
  return [...treeLines(tree, paint), ...more, ...eventLines(events, paint, now)];
}
