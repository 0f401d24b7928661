// How the decisions about one request in two worlds differ, in one line.
import { jsonEqual } from '../../watchable/index.ts';
import type { Decision } from '../decide.ts';
import { decisionLines, ruleText } from './decision-text.ts';

/** What differs with an environment; undefined if the descriptions of both decisions are the same. */
export function differenceText(before: Decision, after: Decision): string | undefined {
  const [was, is] = [decisionLines(before), decisionLines(after)];
  if (jsonEqual(was, is)) return undefined;
  const known = new Set(reached(before));
  const added = reached(after).filter((each) => !known.has(each));
  const [rule, other] = [before.rule, after.rule].map((each) => each && ruleText(each));
  if (rule !== undefined && rule === other && added.length > 0)
    return `it now reaches ${added.join(', ')} too, by ${rule}`;
  return `without the environment ${was.join(', ')}; with it ${is.join(', ')}`;
}

function reached(decision: Decision): readonly string[] {
  return decision.kind === 'route' ? decision.destinations.flatMap(({ workloads }) => workloads) : [];
}
