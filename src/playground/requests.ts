// Requests from outside, each with all the calls that it causes: the proxies and the workloads that they reach in turn.
import { send } from './proxy.ts';
import type { ProxyOptions } from './proxy.ts';
import { answerOf, newBudget } from './workload.ts';
import type { Budget, Send } from './workload.ts';

/** What sends requests from outside. */
export function gatewayOf(options: Pick<ProxyOptions, 'facts' | 'random'>): Send {
  const sendWith =
    (budget: Budget): Send =>
    (request, signal) =>
      send(
        {
          ...options,
          answer: (by, reached, inTime) => answerOf(by, reached, sendWith(budget), budget, inTime),
        },
        request,
        signal,
      );
  return (request, signal) => sendWith(newBudget())(request, signal);
}
