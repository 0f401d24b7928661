import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { until } from '../../../test/support/until.ts';
import { DynamicEnv } from '../../api/dynamicenv.ts';
import type { Subset } from '../../api/dynamicenv.ts';
import { createLogger } from '../../controller/index.ts';
import { startEmbedded } from '../../embedded/index.ts';
import type { Embedded } from '../../embedded/index.ts';
import { ApiError, connect, defineKind } from '../../kube/index.ts';
import type { Client, Impersonation } from '../../kube/index.ts';
import { startControlPlane } from './control-plane.ts';
import type { ControlPlane } from './control-plane.ts';
import { installDefinitions } from './crds.ts';
import { partsOf } from './parts.ts';

const Namespace = defineKind('v1', 'Namespace', 'namespaces', { namespaced: false });
const Role = defineKind('rbac.authorization.k8s.io/v1', 'Role', 'roles');
const RoleBinding = defineKind('rbac.authorization.k8s.io/v1', 'RoleBinding', 'rolebindings');
const Webhooks = defineKind(
  'admissionregistration.k8s.io/v1',
  'ValidatingWebhookConfiguration',
  'validatingwebhookconfigurations',
  { namespaced: false },
);

let cluster: Embedded;
let plane: ControlPlane;
let admin: Client;
const clients: Client[] = [];

function client(impersonate?: Impersonation): Client {
  const { url: server, caPem, admin: credentials } = cluster;
  const { certPem, keyPem } = credentials;
  const made = connect({ server, caPem, certPem, keyPem, ...(impersonate && { impersonate }) });
  clients.push(made);
  return made;
}

beforeAll(async () => {
  cluster = await startEmbedded();
  admin = client();
  const { url: server, caPem, admin: credentials } = cluster;
  plane = await startControlPlane({
    config: { server, caPem, certPem: credentials.certPem, keyPem: credentials.keyPem },
    parts: partsOf(),
    settings: { drainMs: 0, settleMs: 0 },
    namespace: 'kube-system',
    webhook: { port: 0, reach: 'loopback' },
    probes: { port: 0 },
    logger: createLogger({ level: 'silent' }),
    prepare: (each) => installDefinitions(each, partsOf()),
  });
  for (const name of ['shop', 'pay', 'team', 'team-a']) {
    await admin.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  }
  // Jane may create environments in shop, and nothing else.
  await allow('shop', ['riskified.com'], ['dynamicenvs']);
});

afterAll(async () => {
  await plane.stop();
  for (const each of clients) each.close();
  await cluster.stop();
});

async function allow(namespace: string, apiGroups: string[], resources: string[]): Promise<void> {
  const metadata = { namespace, name: `jane-${resources.join('-')}` };
  const apiVersion = 'rbac.authorization.k8s.io/v1';
  await admin.create(Role, { apiVersion, kind: 'Role', metadata, rules: [{ apiGroups, resources, verbs: ['*'] }] });
  await admin.create(RoleBinding, {
    apiVersion,
    kind: 'RoleBinding',
    metadata,
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: metadata.name },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'jane' }],
  });
}

const details: Subset = { name: 'details', namespace: 'shop', containers: [{ containerName: 'app', image: 'd:2' }] };

function env(name: string, spec: Partial<DynamicEnv['spec']> = {}, namespace = 'shop'): DynamicEnv {
  return {
    apiVersion: 'riskified.com/v1alpha1',
    kind: 'DynamicEnv',
    metadata: { namespace, name },
    spec: { istioMatches: [{ headers: { 'x-env': { exact: name } } }], subsets: [details], ...spec },
  };
}

/** The API server's answer to a write that it rejects. */
async function rejection(write: Promise<unknown>): Promise<{ code: number; message: string | undefined }> {
  const error = await write.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof ApiError)) throw new Error(`the write was not refused: ${String(error)}`);
  return { code: error.code, message: error.status?.message };
}

const DENIED = 'admission webhook "vdynamicenv.kb.io" denied the request: ';

describe('the webhook', () => {
  test('rejects an environment that violates a rule, with the message of the rule', async () => {
    const bad = env('bad', { subsets: [{ ...details, replicas: 0 }] });
    expect(await rejection(admin.create(DynamicEnv, bad))).toEqual({
      code: 403,
      message: `${DENIED}spec: Invalid value: {"istioMatches":[{"headers":{"x-env":{"exact":"bad"}}}],"subsets":[{"name":"details","namespace":"shop","replicas":0,"containers":[{"containerName":"app","image":"d:2"}]}]}: It's illegal to use 0 replicas!`,
    });
    await expect(admin.get(DynamicEnv, bad.metadata)).rejects.toThrow('not found');
  });

  test('rejects a header match without a condition as invalid', async () => {
    const header = 'spec.istioMatch.headers.x-env';
    expect(
      await rejection(admin.create(DynamicEnv, env('bad', { istioMatches: [{ headers: { 'x-env': {} } }] }))),
    ).toEqual({
      code: 422,
      message: `${DENIED}DynamicEnv.dynamicenv.riskified.com "bad" is invalid: ${header}: Invalid value: "header": ${header} must validate one and only one schema (oneOf). Found 0 valid alternatives`,
    });
  });

  test('compares an update with the old object, and does not block a deletion', async () => {
    const made = await admin.create(DynamicEnv, env('blue'));
    const other = { ...made, spec: { ...made.spec, istioMatches: [{ headers: { 'x-env': { exact: 'green' } } }] } };
    const patch = { type: 'merge', body: { spec: other.spec } } as const;
    expect(await rejection(admin.patch(DynamicEnv, made.metadata, patch))).toEqual({
      code: 403,
      message: `${DENIED}spec: Invalid value: [{"headers":{"x-env":{"exact":"green"}}}]: spec.istioMatch field is immutable: make another environment`,
    });
    // The controllers add and remove their finalizers, both through the webhook.
    await until(async () => (await admin.get(DynamicEnv, made.metadata)).metadata.finalizers?.length === 3);
    await admin.delete(DynamicEnv, made.metadata);
    await until(() =>
      admin.get(DynamicEnv, made.metadata).then(
        () => false,
        () => true,
      ),
    );
    expect(await rejection(admin.get(DynamicEnv, made.metadata))).toMatchObject({ code: 404 });
  });

  test('rejects an environment whose names collide with those of another one', async () => {
    const first = await admin.create(DynamicEnv, env('a-b', {}, 'team'));
    await until(() => plane.manager.tables.of(DynamicEnv).get('team/a-b') !== undefined);
    expect(await rejection(admin.create(DynamicEnv, env('b', {}, 'team-a')))).toEqual({
      code: 403,
      message: `${DENIED}metadata.name: Invalid value: "b": environments team/a-b and team-a/b would both be named "team-a-b": rename one of them`,
    });
    await admin.delete(DynamicEnv, first.metadata);
  });

  test('rejects an environment in a namespace that the user may not deploy to', async () => {
    const jane = client({ user: 'jane', groups: ['system:authenticated'] });
    const abroad = env('abroad', { subsets: [details], consumers: [{ ...details, namespace: 'pay' }] });
    expect(await rejection(jane.create(DynamicEnv, abroad))).toEqual({
      code: 403,
      message: `${DENIED}spec.consumers[0].namespace: Forbidden: user "jane" cannot create resource "deployments" in API group "apps" in the namespace "pay", which an environment there requires: ask for that permission, or use Deployments in the environment's own namespace`,
    });
    const home = await jane.create(DynamicEnv, env('abroad'));
    const patch = { type: 'merge', body: { spec: abroad.spec } } as const;
    expect(await rejection(jane.patch(DynamicEnv, home.metadata, patch))).toMatchObject({ code: 403 });
    await allow('pay', ['apps'], ['deployments']);
    const moved = await jane.patch(DynamicEnv, home.metadata, patch);
    expect(moved.spec.consumers).toHaveLength(1);
    await jane.delete(DynamicEnv, home.metadata);
  });

  test('rejects a variable from a Secret that the user may not read', async () => {
    const jane = client({ user: 'jane', groups: ['system:authenticated'] });
    const variable = { name: 'TOKEN', valueFrom: { secretKeyRef: { name: 'db', key: 'token' } } };
    const reading = env('reading', {
      subsets: [{ ...details, containers: [{ containerName: 'app', image: 'd:2', env: [variable] }] }],
    });
    expect(await rejection(jane.create(DynamicEnv, reading))).toEqual({
      code: 403,
      message: `${DENIED}spec.subsets[0].containers[0].env[0].valueFrom.secretKeyRef.name: Forbidden: user "jane" cannot get resource "secrets" "db" in API group "" in the namespace "shop", and the variable would expose it: ask for that permission, or remove the variable`,
    });
    await allow('shop', [''], ['secrets']);
    const made = await jane.create(DynamicEnv, reading);
    await jane.delete(DynamicEnv, made.metadata);
  });

  test('checks a dry run too', async () => {
    const bad = env('bad', { istioMatches: [] });
    expect(await rejection(admin.create(DynamicEnv, bad, { dryRun: true }))).toEqual({
      code: 403,
      message: `${DENIED}spec: Invalid value: []: empty IstioMatch is invalid for DynamicEnv`,
    });
  });
});

test('a changed webhook registration is restored', async () => {
  const name = 'offshoot-environments';
  const before = await admin.get(Webhooks, { name });
  const [webhook] = before['webhooks'] as [{ clientConfig: { caBundle: string; url: string } }];
  const broken = { ...webhook, clientConfig: { ...webhook.clientConfig, caBundle: 'AAAA' }, failurePolicy: 'Ignore' };
  await admin.update(Webhooks, { ...before, webhooks: [broken] });
  await until(async () => {
    const [healed] = (await admin.get(Webhooks, { name }))['webhooks'] as [typeof webhook & { failurePolicy: string }];
    return healed.clientConfig.caBundle === webhook.clientConfig.caBundle && healed.failurePolicy === 'Fail';
  });
  expect(await rejection(admin.create(DynamicEnv, env('bad', { istioMatches: [] })))).toMatchObject({ code: 403 });
});

test('metrics count environments, API requests and admission requests', async () => {
  const made = await admin.create(DynamicEnv, env('counted'));
  // Its Deployment does not exist, so it is degraded.
  await until(async () => (await admin.get(DynamicEnv, made.metadata)).status?.state === 'degraded');
  const metrics = async (): Promise<string> => (await fetch(`${plane.manager.probesUrl}/metrics`)).text();
  await until(async () =>
    (await metrics()).includes('degraded_dynamic_environments{namespace="shop",name="counted"} 1'),
  );
  const text = await metrics();
  expect(text).toMatch(/^dynamic_environments\{namespace="shop"\} \d+$/m);
  expect(text).toMatch(/rest_client_requests_total\{code="200",method="GET",host="[^"]+"\} \d+/);
  expect(text).toContain(
    'controller_runtime_webhook_requests_total{webhook="/validate-riskified-com-v1alpha1-dynamicenv",code="200"}',
  );
  await admin.delete(DynamicEnv, made.metadata);
  await until(async () => !(await metrics()).includes('name="counted"'));
});
