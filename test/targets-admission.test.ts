// Admission of targets, claims, classes and environments by the API server: what is rejected with which message, what
// must never be blocked, and what happens while the webhook is down.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { DeploymentTarget, DeploymentTargetClaim, DeploymentTargetClass, Environment } from '../src/api/targets.ts';
import { startControlPlane } from '../src/cli/run/control-plane.ts';
import type { ControlPlane } from '../src/cli/run/control-plane.ts';
import { installDefinitions } from '../src/cli/run/crds.ts';
import { partsOf } from '../src/cli/run/parts.ts';
import type { Part, PartWebhook } from '../src/cli/run/parts.ts';
import { createLogger } from '../src/controller/index.ts';
import { ValidatingWebhookConfiguration } from '../src/controller/webhook/registration.ts';
import { ApiError, apiVersionOf, isNotFound, loadConfig } from '../src/kube/index.ts';
import type { AnyKind, AnyObject, Client, Kind, KubeObject } from '../src/kube/index.ts';
import { describeClusters } from './cluster/index.ts';
import { findObject } from './support/find-object.ts';
import { until } from './support/until.ts';

type Json = Readonly<Record<string, unknown>>;

const CREDENTIALS = { defaultNamespace: 'place', apiURL: 'https://api.test', clusterCredentialsSecret: 'access' };
const MINE = new Set(['binder', 'reclaimer']);
const NO_INGRESS = 'ingress domain cannot be empty if cluster is of type Kubernetes';
const UNREACHABLE = 'failed calling webhook "venvironment.kb.io"';

/** The part with a webhook for one namespace and only the binding controllers, because suites share a real cluster. */
function within(namespace: string): Part {
  const [part] = partsOf(['targets']);
  const webhook = part!.webhook!;
  const namespaceSelector = { matchLabels: { 'kubernetes.io/metadata.name': namespace } };
  const configurationName = `${webhook.configurationName}-${namespace}`;
  const scoped: PartWebhook = {
    ...webhook,
    configurationName,
    configuration(address, bundle) {
      const configuration = webhook.configuration(address, bundle);
      return {
        ...configuration,
        metadata: { ...configuration.metadata, name: configurationName },
        webhooks: configuration.webhooks.map((each) => ({ ...each, namespaceSelector })),
      };
    },
  };
  return {
    ...part!,
    controllers: (options) => part!.controllers(options).filter(({ name }) => MINE.has(name)),
    webhook: scoped,
  };
}

describeClusters('admission of targets', (cluster) => {
  let client: Client;
  let team: string;
  let part: Part;
  let plane: ControlPlane;

  beforeAll(async () => {
    client = cluster.client();
    await installDefinitions(client, partsOf(['targets']));
    team = await cluster.namespace('admission');
    part = within(team);
    // These exist before the webhook.
    await create(
      DeploymentTarget,
      'old-target',
      { ...targetSpec({ claimRef: 7 }) },
      { finalizers: ['example.com/hold'] },
    );
    await create(Environment, 'old-environment', badEnvironment(), { finalizers: ['example.com/hold'] });
    plane = await start();
    await untilRejected(NO_INGRESS);
  });

  afterAll(async () => {
    await plane.stop();
  });

  function start(options: { webhook?: boolean } = {}): Promise<ControlPlane> {
    return startControlPlane({
      config: loadConfig({ path: cluster.kubeconfigPath }),
      parts: [part],
      namespace: team,
      ...((options.webhook ?? true) && { webhook: { port: 0, reach: 'loopback' as const } }),
      logger: createLogger({ level: 'silent' }),
    });
  }

  function targetSpec(spec: Json = {}): Json {
    return { deploymentTargetClassName: '', kubernetesCredentials: CREDENTIALS, ...spec };
  }

  function badEnvironment(fields: Json = {}): Json {
    const unstableConfigurationFields = { clusterType: 'Kubernetes' };
    return { displayName: 'Bad', deploymentStrategy: 'Manual', unstableConfigurationFields, ...fields };
  }

  function create(
    kind: AnyKind,
    name: string,
    spec: Json,
    metadata: Json = {},
    options: { dryRun?: boolean } = {},
  ): Promise<AnyObject> {
    const named = { ...(name !== '' && { name }), ...(kind.namespaced && { namespace: team }), ...metadata };
    const object = { apiVersion: apiVersionOf(kind), kind: kind.kind, metadata: named, spec } as unknown as AnyObject;
    return client.create(kind as Kind, object, options);
  }

  function change(kind: AnyKind, name: string, body: Json): Promise<AnyObject> {
    return client.patch(kind as Kind, { name, namespace: team }, { type: 'merge', body });
  }

  function find<T extends KubeObject>(kind: Kind<T>, name: string): Promise<T | undefined> {
    return findObject(client, kind, { name, namespace: team });
  }

  /** The error of a write that the API server must reject. */
  async function refusal(write: Promise<unknown>): Promise<{ code: number | undefined; message: string | undefined }> {
    const error: unknown = await write.then(
      () => undefined,
      (reason: unknown) => reason,
    );
    if (!(error instanceof ApiError)) throw new Error('the write was taken', { cause: error });
    return { code: error.status?.code, message: error.status?.message };
  }

  /** Waits until a write fails with this message, or succeeds: an API server notices webhooks after a moment. */
  async function untilRejected(words: string | undefined): Promise<void> {
    await until(async () => {
      const write = create(Environment, 'probe', badEnvironment(), {}, { dryRun: true });
      const said = await write.then(
        () => undefined,
        (error: ApiError) => error.status?.message,
      );
      return words === undefined ? said === undefined : (said?.includes(words) ?? false);
    });
  }

  const denied = (name: string, message: string): string =>
    `admission webhook "${name}" denied the request: ${message}`;

  test('rejects invalid objects when they are created, with the field and the reason', async () => {
    expect(await refusal(create(DeploymentTarget, 'bad', targetSpec({ claimRef: ['a'] })))).toEqual({
      code: 422,
      message: denied(
        'vdeploymenttarget.offshoot.dev',
        'DeploymentTarget.appstudio.redhat.com "bad" is invalid: spec.claimRef: Invalid value: ["a"]: must be the name of a claim: a text, or an object with that text as its name',
      ),
    });
    const bad = { deploymentTargetClassName: '', ttl: 'two days' };
    expect((await refusal(create(DeploymentTargetClaim, 'bad', bad))).message).toContain(
      'spec.ttl: Invalid value: "two days": must be a duration greater than zero',
    );
    const spec = { provisioner: 'offshoot.dev/namespace', reclaimPolicy: 'Delete', parameters: { warm: 'two' } };
    expect((await refusal(create(DeploymentTargetClass, `bad-${team}`, spec))).message).toContain(
      'spec.parameters.warm: Invalid value: "two": must be a whole number of at least 0',
    );
    expect(await refusal(create(Environment, 'bad', badEnvironment()))).toEqual({
      code: 403,
      message: denied('venvironment.kb.io', NO_INGRESS),
    });
    expect((await refusal(create(Environment, 'a.b', { displayName: '', deploymentStrategy: '' }))).message).toContain(
      'invalid environment name: a.b, an environment resource name must start with',
    );
    const kinds: AnyKind[] = [DeploymentTarget, DeploymentTargetClaim, Environment];
    for (const kind of kinds) expect(await find(kind as Kind, 'bad')).toBeUndefined();
  });

  test('rejects updates that make an object invalid, and allows valid ones', async () => {
    await create(Environment, 'fine', { displayName: 'Fine', deploymentStrategy: 'Manual' });
    expect((await refusal(change(Environment, 'fine', { spec: badEnvironment() }))).code).toBe(403);
    await create(DeploymentTargetClaim, 'short', { deploymentTargetClassName: 'none', ttl: '1d' });
    expect((await refusal(change(DeploymentTargetClaim, 'short', { spec: { ttl: '0s' } }))).code).toBe(422);
    await change(DeploymentTargetClaim, 'short', { spec: { ttl: '2d' } });
    expect((await find(DeploymentTargetClaim, 'short'))!.spec.ttl).toBe('2d');
  });

  test('accepts a name from generateName', async () => {
    const spec = { displayName: 'Made up', deploymentStrategy: 'Manual' };
    const made = await create(Environment, '', spec, { generateName: 'env-' });
    expect(made.metadata.name).toMatch(/^env-.+/);
  });

  test('allows an object that was invalid before to be labelled, corrected in part, and deleted', async () => {
    await change(Environment, 'old-environment', { metadata: { labels: { team: 'blue' } } });
    await change(DeploymentTarget, 'old-target', { metadata: { labels: { team: 'blue' } } });
    await change(DeploymentTarget, 'old-target', { spec: { kubernetesCredentials: { defaultNamespace: 'other' } } });
    expect((await refusal(change(DeploymentTarget, 'old-target', { spec: { claimRef: 8 } }))).code).toBe(422);
    await remove(Environment, 'old-environment');
    await remove(DeploymentTarget, 'old-target');
  });

  /** Deletes an object with finalizers, then removes them. */
  async function remove(kind: AnyKind, name: string): Promise<void> {
    await client.delete(kind, { name, namespace: team });
    expect((await find(kind as Kind, name))?.metadata.deletionTimestamp).toBeDefined();
    await change(kind, name, { metadata: { finalizers: null } });
    await until(async () => (await find(kind as Kind, name)) === undefined);
  }

  test.each<[string, (name: string) => string | { name: string }]>([
    ['text', (name) => name],
    ['object', (name) => ({ name })],
  ])('keeps the form of a claimRef that is written as %s, from binding to release', async (shape, refTo) => {
    const name = `by-${shape}`;
    await create(DeploymentTarget, name, targetSpec({ claimRef: refTo(name) }));
    await create(DeploymentTargetClaim, name, { deploymentTargetClassName: '' });
    await until(async () => (await find(DeploymentTargetClaim, name))?.status?.phase === 'Bound');
    expect((await find(DeploymentTarget, name))!.spec.claimRef).toEqual(refTo(name));
    await client.delete(DeploymentTargetClaim, { name, namespace: team });
    await until(async () => (await find(DeploymentTargetClaim, name)) === undefined);
    expect((await find(DeploymentTarget, name))!.spec.claimRef).toEqual(refTo(''));
  });

  test('keeps a bound target from being given to another claim while its claim exists', async () => {
    await create(DeploymentTarget, 'held', targetSpec());
    await create(DeploymentTargetClaim, 'holder', { deploymentTargetClassName: '', targetName: 'held' });
    await until(async () => (await find(DeploymentTargetClaim, 'holder'))?.status?.phase === 'Bound');
    const claimRefTo = (claimRef: string) => change(DeploymentTarget, 'held', { spec: { claimRef } });
    expect(await refusal(claimRefTo('other'))).toEqual({
      code: 422,
      message: denied(
        'vdeploymenttarget.offshoot.dev',
        `DeploymentTarget.appstudio.redhat.com "held" is invalid: spec.claimRef: Invalid value: "other": the target is bound to DeploymentTargetClaim ${team}/holder: delete that claim first, or leave "holder"`,
      ),
    });
    await claimRefTo('');
    await until(async () => (await find(DeploymentTarget, 'held'))!.spec.claimRef === 'holder');
    await client.delete(DeploymentTargetClaim, { name: 'holder', namespace: team });
    await until(async () => (await find(DeploymentTargetClaim, 'holder')) === undefined);
    await claimRefTo('other');
  });

  test('is unregistered when the controllers stop', async () => {
    const ref = { name: part.webhook!.configurationName };
    expect(await client.get(ValidatingWebhookConfiguration, ref)).toBeDefined();
    await plane.stop();
    await expect(client.get(ValidatingWebhookConfiguration, ref)).rejects.toSatisfy(isNotFound);
    await untilRejected(undefined);
    plane = await start({ webhook: false });
  });

  /** Registers the webhook at an address that does not answer. */
  async function whileWebhookIsDown(run: () => Promise<void>): Promise<void> {
    const { configurationName: name, ...webhook } = part.webhook!;
    await client.create(
      ValidatingWebhookConfiguration,
      webhook.configuration({ url: 'https://127.0.0.1:1' }, undefined),
    );
    try {
      await untilRejected(UNREACHABLE);
      await run();
    } finally {
      await client.delete(ValidatingWebhookConfiguration, { name });
    }
  }

  test('does not block claims while the webhook is down, and rejects environments', () =>
    whileWebhookIsDown(async () => {
      const waits = create(Environment, 'later', { displayName: 'Later', deploymentStrategy: 'Manual' });
      expect((await refusal(waits)).message).toContain(UNREACHABLE);
      await create(DeploymentTarget, 'unseen', targetSpec());
      await create(DeploymentTargetClaim, 'unseen', { deploymentTargetClassName: '', targetName: 'unseen' });
      await until(async () => (await find(DeploymentTargetClaim, 'unseen'))?.status?.phase === 'Bound');
      await client.delete(DeploymentTargetClaim, { name: 'unseen', namespace: team });
      await until(async () => (await find(DeploymentTargetClaim, 'unseen')) === undefined);
    }));

  test('allows environments to be labelled and deleted while the webhook is down', () =>
    whileWebhookIsDown(async () => {
      await change(Environment, 'fine', { metadata: { labels: { team: 'blue' }, finalizers: ['example.com/hold'] } });
      expect((await refusal(change(Environment, 'fine', { spec: { displayName: 'New' } }))).message).toContain(
        UNREACHABLE,
      );
      await remove(Environment, 'fine');
    }));
});
