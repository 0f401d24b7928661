// The name of routing rules in messages of the commands.
import { RoutingRule } from '../../api/routing.ts';
import type { Noun } from '../objects/find.ts';

export const RULE: Noun<RoutingRule> = {
  kind: RoutingRule,
  one: 'routing rule',
  many: 'routing rules',
  list: 'offshoot routing list -A',
};
