// Runs a scenario on one server: replaces placeholders, waits for conditions, and returns normalised responses.
import { isDeepStrictEqual } from 'node:util';
import { setTimeout as delay } from 'node:timers/promises';
import { stringifyJson } from '../../src/kube/json.ts';
import type { Answer, Endpoint, WireRequest } from './endpoint.ts';
import { Normaliser } from './normalise.ts';
import { at, removeAt } from './path.ts';
import type { Condition, Scenario, Step } from './scenario.ts';

const deadlineMs = 60_000;
const pollMs = 50;

/** The normalised responses, one per step. Creates the namespace; the caller deletes it with `removeNamespace`. */
export async function play(
  { steps }: Scenario,
  namespace: string,
  endpoint: Endpoint,
  names: Readonly<Record<string, string>> = {},
): Promise<Answer[]> {
  const variables = new Map([['ns', namespace], ...Object.entries(names)]);
  const normaliser = new Normaliser(namespace);
  await createNamespace(endpoint, namespace);
  const answers: Answer[] = [];
  for (const step of steps) {
    const answer =
      step.meanwhile === undefined
        ? await sendUntil(endpoint, step, variables)
        : await streamMeanwhile(endpoint, step, variables);
    for (const [name, path] of Object.entries(step.keep ?? {})) variables.set(name, String(at(answer.body, path)));
    const body = normaliser.normalise(answer.body);
    for (const path of step.without ?? []) removeAt(body, path);
    const parts = step.only?.map((path) => [path, at(body, path)] as const);
    const shown = parts === undefined ? body : Object.fromEntries(parts);
    answers.push({ ...answer, warnings: answer.warnings.toSorted(), body: shown });
  }
  return answers;
}

const plain = {
  headers: { accept: 'application/json', 'content-type': 'application/json', 'user-agent': 'differential' },
};

export async function removeNamespace(endpoint: Endpoint, name: string): Promise<void> {
  await endpoint.send({ ...plain, method: 'DELETE', path: `/api/v1/namespaces/${name}` });
}

/** Also waits for the default service account, which pods need, and the CA certificate, which lists contain. */
async function createNamespace(endpoint: Endpoint, name: string): Promise<void> {
  const body = stringifyJson({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  await endpoint.send({ ...plain, method: 'POST', path: '/api/v1/namespaces', body });
  for (const part of ['serviceaccounts/default', 'configmaps/kube-root-ca.crt']) {
    const path = `/api/v1/namespaces/${name}/${part}`;
    await sendUntil(endpoint, { method: 'GET', path, until: { code: 200 } }, new Map());
  }
}

/** Reads a stream while the requests of `meanwhile` are sent. */
async function streamMeanwhile(
  endpoint: Endpoint,
  step: Step,
  variables: ReadonlyMap<string, string>,
): Promise<Answer> {
  const opened = Promise.withResolvers<void>();
  const answer = endpoint.send({ ...wireRequest(step, variables), onOpen: opened.resolve });
  // A failure is reported when the response is awaited.
  answer.catch(() => opened.resolve());
  await opened.promise;
  for (const other of step.meanwhile ?? []) await sendUntil(endpoint, other, variables);
  return answer;
}

async function sendUntil(endpoint: Endpoint, step: Step, variables: ReadonlyMap<string, string>): Promise<Answer> {
  const request = wireRequest(step, variables);
  const end = performance.now() + deadlineMs;
  for (;;) {
    const answer = await endpoint.send(request);
    if (step.until === undefined || isMet(step.until, answer)) return answer;
    if (performance.now() > end) {
      const body = stringifyJson(answer.body).slice(0, 2_000);
      throw new Error(`${JSON.stringify(step.until)} did not come true: ${step.path}: ${answer.code} ${body}`);
    }
    await delay(pollMs);
  }
}

function isMet(condition: Condition, { code, body, warnings }: Answer): boolean {
  if ('warned' in condition) return warnings.length > 0;
  if ('code' in condition) return code === condition.code;
  const value = at(body, condition.path);
  return 'is' in condition ? isDeepStrictEqual(value, condition.is) : value !== undefined;
}

function wireRequest(step: Step, variables: ReadonlyMap<string, string>): WireRequest {
  const fill = (text: string): string =>
    text.replaceAll(/<(\w+)>/g, (whole, name: string) => variables.get(name) ?? whole);
  const query = new URLSearchParams(mapValues(step.query ?? {}, fill));
  const { body, as, groups } = step;
  return {
    method: step.method,
    path: fill(step.path) + (step.query === undefined ? '' : `?${query.toString()}`),
    headers: {
      accept: step.accept ?? 'application/json',
      'user-agent': 'differential',
      ...(body === undefined ? {} : { 'content-type': step.contentType ?? 'application/json' }),
      ...(as === undefined ? {} : { 'impersonate-user': fill(as) }),
      ...(groups === undefined ? {} : { 'impersonate-group': groups }),
      ...mapValues(step.headers ?? {}, fill),
    },
    ...(body === undefined ? {} : { body: fill(typeof body === 'string' ? body : stringifyJson(body)) }),
    ...(step.events === undefined ? {} : { lines: step.events }),
  };
}

function mapValues(values: Readonly<Record<string, string>>, map: (value: string) => string): Record<string, string> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, map(value)]));
}
