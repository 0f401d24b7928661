// Connects proxies and workloads, so that a request from outside causes further calls.
import { send } from './proxy.ts';
import type { ProxyOptions } from './proxy.ts';
import { answerOf, newBudget } from './workload.ts';
import type { Budget, Send } from './workload.ts';

/** Returns a function that sends a request from outside; each request has its own budget of calls. */
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
