// `offshoot routing describe`: shows a rule as a tree.
import { describeRule } from '../../routing/index.ts';
import { describeObject, treeOutput } from '../objects/describe.ts';
import type { DescribeOptions } from '../objects/describe.ts';
import { RULE } from './nouns.ts';

export function describeRuleCommand(name: string, options: DescribeOptions): Promise<void> {
  return describeObject(RULE, name, options, { describe: describeRule, ...treeOutput('rule') });
}
