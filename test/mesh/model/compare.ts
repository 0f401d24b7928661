// Brings the answer of a proxy and the decision of the routing model into a form that can be compared.
import type { Decision, Destination, HeaderStep } from '../../../src/traffic/index.ts';
import type { Request } from '../../../src/traffic/request.ts';
import { workloadOfPod } from '../../../src/traffic/services.ts';
import type { Answer } from '../ask.ts';

/** Headers that the routes of random worlds change. */
const CHANGED = ['x-a', 'x-b', 'x-user', 'x-other'];
/** Headers of answers, with the one that names the route. */
const ANSWERED = [...CHANGED, 'x-route'];

/** An answer in comparable form: a real one, or one that a decision leads to. */
type Seen = Readonly<Record<string, unknown>>;

/** The comparable part of a real answer. */
export function seen({ status, headers, body, pod }: Answer): Seen {
  const answered = pick(headers, ANSWERED);
  if (pod === undefined) {
    if (status === 503 || status === 404 || status === 502 || status === 555) return { status };
    return { status, ...(headers['location'] && { location: headers['location'] }), body, headers: answered };
  }
  const { pod: name, namespace, labels, headers: raw, url } = pod;
  const sent: Record<string, string[]> = {};
  for (let i = 0; i < raw.length; i += 2) (sent[raw[i]!.toLowerCase()] ??= []).push(raw[i + 1]!);
  const owner = { kind: 'ReplicaSet', name: name.slice(0, name.lastIndexOf('-')), controller: true };
  const metadata = { name, namespace, labels, ownerReferences: [{ ...owner, apiVersion: 'apps/v1', uid: '' }] };
  return {
    status,
    workload: workloadOfPod({ apiVersion: 'v1', kind: 'Pod', metadata }).key,
    path: url,
    host: sent['host']?.[0],
    sent: pick(sent, CHANGED),
    headers: answered,
  };
}

/** All answers that a decision may lead to: one for each destination and workload. */
export function expectations(decision: Decision, request: Request): readonly Seen[] {
  switch (decision.kind) {
    case 'passthrough':
      return [{ passthrough: decision.reason }];
    case 'redirect': {
      const { status, location, responseHeaders } = decision;
      return [{ status, location, body: '', headers: pick(applied({}, responseHeaders), ANSWERED) }];
    }
    case 'response': {
      const { status, reason, body = '', responseHeaders } = decision;
      if (reason !== 'DirectResponse') return [{ status }];
      return [{ status, body, headers: pick(applied({}, responseHeaders), ANSWERED) }];
    }
    case 'route':
      return decision.destinations.flatMap((each) => reached(each, decision.path, request));
  }
}

function reached(destination: Destination, path: string, request: Request): readonly Seen[] {
  const { outcome, workloads, requestHeaders, responseHeaders, authority = request.host } = destination;
  if (outcome !== 'Reached') return [{ status: 503 }];
  const sent = pick(applied(request.headers ?? {}, requestHeaders), CHANGED);
  const headers = pick(applied({}, responseHeaders), ANSWERED);
  return workloads.map((workload) => ({ status: 200, workload, path, host: authority, sent, headers }));
}

type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

function applied(headers: Headers, steps: readonly HeaderStep[]): Headers {
  const result = new Map(Object.entries(headers).map(([name, values]) => [name, [values ?? []].flat()]));
  for (const { op, name, value = '' } of steps) {
    if (op === 'remove') result.delete(name);
    else result.set(name, op === 'set' ? [value] : [...(result.get(name) ?? []), value]);
  }
  return Object.fromEntries(result);
}

function pick(headers: Headers, names: readonly string[]): Readonly<Record<string, string>> {
  const found = names.filter((name) => headers[name] !== undefined);
  return Object.fromEntries(found.map((name) => [name, [headers[name]!].flat().join(', ')]));
}
