// Requests that exceed their limits: the API server refuses such pods, long after it accepted the resource.
import type { ComponentResources } from '../../../api/istio.ts';
import { parseQuantity } from '../../../kube/quantity.ts';

interface Excess {
  readonly resource: 'cpu' | 'memory';
  readonly request: string;
  readonly limit: string;
}

/** The first request that exceeds its limit. */
export function excessOf({ requests = {}, limits = {} }: ComponentResources = {}): Excess | undefined {
  for (const resource of ['cpu', 'memory'] as const) {
    const [request, limit] = [requests[resource], limits[resource]];
    if (request === undefined || limit === undefined) continue;
    const [asked, most] = [parseQuantity(request), parseQuantity(limit)];
    if (asked !== undefined && most !== undefined && asked.nano > most.nano) return { resource, request, limit };
  }
  return undefined;
}
