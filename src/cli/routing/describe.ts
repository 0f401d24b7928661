// `offshoot routing describe`: what became of a rule, as a tree.
import { describeRule } from '../../routing/index.ts';
import { fetchFor } from '../objects/fetch.ts';
import { getByName } from '../objects/find.ts';
import { withConnection } from '../options.ts';
import type { ClusterOptions } from '../options.ts';
import { painter } from '../terminal/colour.ts';
import { eventLines } from '../terminal/events.ts';
import { dataText } from '../terminal/output.ts';
import { treeLines } from '../terminal/tree.ts';
import { RULE } from './nouns.ts';

export interface RuleDescribeOptions extends ClusterOptions {
  readonly output?: 'json' | 'yaml';
}

export function describeRuleCommand(name: string, options: RuleDescribeOptions): Promise<void> {
  return withConnection(options, async ({ client, namespace }) => {
    const rule = await getByName(client, RULE, { name, namespace });
    const { tree, events } = await fetchFor(client, (read) => describeRule(read, rule));
    if (options.output !== undefined) {
      return void process.stdout.write(dataText(options.output, { rule: tree, events }));
    }
    const paint = painter(process.stdout);
    console.log([...treeLines(tree, paint), ...eventLines(events, paint, Date.now())].join('\n'));
  });
}
