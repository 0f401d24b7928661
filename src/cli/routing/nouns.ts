// Routing rules, in the words that the commands have for them.
import { RoutingRule } from '../../api/routing.ts';
import type { Noun } from '../objects/find.ts';

export const RULE: Noun<RoutingRule> = {
  kind: RoutingRule,
  one: 'routing rule',
  many: 'routing rules',
  list: 'offshoot routing list -A',
};
