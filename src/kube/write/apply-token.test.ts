// Steps that create an object once, delete it only if nobody changed it, or request a token for it.
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { FakeApi } from '../../../test/support/fake-api.ts';
import { Applier, PlanOutdated, StepFailed, WriteForbidden } from './apply.ts';
import { ApiError } from '../errors.ts';
import { defineKind } from '../objects.ts';
import type { KubeObject } from '../objects.ts';
import { TOKEN_EXPIRES, TOKEN_ISSUED } from './service-account-token.ts';
import { make, removeUnchanged, token } from './steps.ts';
import { Tables } from '../tables/tables.ts';

interface Secret extends KubeObject {
  readonly type?: string;
  readonly data?: Readonly<Record<string, string>>;
}
const Secret = defineKind<Secret>('v1', 'Secret', 'secrets');
const secret = (labels: Record<string, string> = {}): Secret => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 'access', namespace: 'home', labels },
});

function world(options: Pick<ConstructorParameters<typeof Applier>[0], 'mayWrite'> = {}) {
  const api = new FakeApi();
  const tables = new Tables([Secret]);
  const applier = new Applier({ client: api, tables, manager: 'offshoot-test', ...options });
  return { api, tables, applier, live: () => tables.of(Secret).get('home/access') };
}

const access = {
  serviceAccount: { name: 'deployer', namespace: 'place' },
  expirationSeconds: 3600,
  cluster: { server: 'https://api:6443', caPem: 'PEM' },
};

test('a token step writes a kubeconfig and when its token expires', async () => {
  const { api, applier, live } = world();
  const [outcome] = await applier.apply([token(Secret, secret({ of: 'x' }), access)]);
  expect(outcome!.did).toBe('created');
  const { metadata, data } = live()!;
  expect(parse(Buffer.from(data!['kubeconfig']!, 'base64').toString())).toEqual({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      {
        name: 'default-cluster',
        cluster: { server: 'https://api:6443', 'certificate-authority-data': Buffer.from('PEM').toString('base64') },
      },
    ],
    users: [{ name: 'deployer', user: { token: 'token-1-of-place/deployer' } }],
    contexts: [
      { name: 'default-context', context: { cluster: 'default-cluster', user: 'deployer', namespace: 'place' } },
    ],
    'current-context': 'default-context',
  });
  const { [TOKEN_ISSUED]: issued, [TOKEN_EXPIRES]: expires } = metadata.annotations!;
  expect(Date.parse(expires!) - Date.parse(issued!)).toBe(3_600_000);
  expect(metadata.labels).toEqual({ of: 'x' });
  expect(api.writes).toHaveLength(1);
});

test('a rejected token request leaves no Secret, and the error names the Secret', async () => {
  const { api, applier } = world();
  api.intercept = ({ verb }) => {
    if (verb === 'token') throw new ApiError('serviceaccounts "deployer" not found', { code: 404, reason: 'NotFound' });
  };
  const failure = await applier.apply([token(Secret, secret(), access)]).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(StepFailed);
  expect((failure as Error).message).toBe('token Secret home/access: serviceaccounts "deployer" not found');
  expect(api.all(Secret).size).toBe(0);
});

test('a dry run requests no token', async () => {
  const { api, applier } = world();
  const asked: string[] = [];
  api.intercept = ({ verb }) => void asked.push(verb);
  const [outcome] = await applier.apply([token(Secret, secret(), access)], { dryRun: true });
  expect(outcome!.did).toBe('created');
  expect(asked).toEqual(['apply']);
  expect(api.all(Secret).size).toBe(0);
});

test('a make step does not write again, and never overwrites the object of somebody else', async () => {
  const { api, applier } = world();
  expect((await applier.apply([make(Secret, secret())]))[0]!.did).toBe('created');
  expect((await applier.apply([make(Secret, secret({ other: 'x' }))]))[0]!.did).toBe('nothing');
  expect(api.all(Secret).get('home/access')!.metadata.labels).toEqual({});

  const late = world();
  await late.api.create(Secret, secret({ theirs: 'x' }));
  await expect(late.applier.apply([make(Secret, secret())])).rejects.toThrow(PlanOutdated);
  expect(late.api.all(Secret).get('home/access')!.metadata.labels).toEqual({ theirs: 'x' });
});

test('an object that somebody has changed since is not removed', async () => {
  const { api, applier, live } = world();
  await applier.apply([make(Secret, secret())]);
  const seen = live()!;
  await api.patch(Secret, seen.metadata, { type: 'merge', body: { metadata: { labels: { taken: 'yes' } } } });
  await expect(applier.apply([removeUnchanged(Secret, seen)])).rejects.toThrow(PlanOutdated);
  expect(api.all(Secret).size).toBe(1);
});

test.each(['token', 'apply'])('a token step sends nothing more once another process leads: %s', async (last) => {
  let leads = true;
  const requests: string[] = [];
  const { api, applier } = world({ mayWrite: () => leads });
  api.intercept = ({ verb }) => {
    requests.push(verb);
    if (verb === last) leads = false;
  };
  await expect(applier.apply([token(Secret, secret(), access)])).rejects.toThrow(WriteForbidden);
  expect(requests.at(-1)).toBe(last);
  expect(api.writes).toEqual([]);
});
