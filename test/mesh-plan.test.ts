// The plan for a mesh is what its controllers then do, on both clusters: through the lifecycle of a mesh, every planned
// change happens, and no other.
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Istio } from '../src/api/istio.ts';
import type { IstioSpec } from '../src/api/istio.ts';
import { installDefinitions } from '../src/cli/run/crds.ts';
import { partsOf } from '../src/cli/run/parts.ts';
import { plannedMesh } from '../src/cli/mesh/plan.ts';
import { changesOf, createLogger, Manager, reportedChange } from '../src/controller/index.ts';
import type { Intent, ReportedChange, Write } from '../src/controller/index.ts';
import { defineKind, isNotFound, keyOf } from '../src/kube/index.ts';
import type { AnyKind, Client, KubeObject, Ref } from '../src/kube/index.ts';
import { BLOCKING_KINDS, builtinRenderer, istioctlRenderer, mesh, UNINSTALLED_KINDS } from '../src/mesh/index.ts';
import type { MeshPlan, MeshSettings } from '../src/mesh/index.ts';
import { withoutAssumed } from '../src/mesh/plan/rollouts.ts';
import { describeOwnClusters } from './cluster/index.ts';
import { istioNode, istioVersion } from './programs/istio.ts';
import { findPrograms } from './programs/programs.ts';
import { ConfigMap, Namespace } from './support/core-kinds.ts';
import { surprises } from './support/planned-changes-on-clusters.ts';
import { until } from './support/until.ts';

const NetworkPolicy = defineKind('networking.k8s.io/v1', 'NetworkPolicy', 'networkpolicies');
const VirtualService = BLOCKING_KINDS.find(({ kind }) => kind === 'VirtualService')!;

/** The kinds that the mesh can write, without pods, which Kubernetes manages. */
const KINDS: readonly AnyKind[] = [
  Istio,
  Namespace,
  NetworkPolicy,
  ...UNINSTALLED_KINDS.filter(({ kind }) => kind !== 'Pod' && kind !== 'EnvoyFilter'),
  ...BLOCKING_KINDS,
];

const istioctl = findPrograms(istioNode, ['istioctl']);

const REF = { name: 'default', namespace: 'kyma-system' };
const istio = (name: string, spec: IstioSpec = {}): Istio => ({
  apiVersion: 'operator.kyma-project.io/v1alpha2',
  kind: 'Istio',
  metadata: { ...REF, name },
  spec,
});

type State = ReadonlyMap<AnyKind, ReadonlyMap<string, KubeObject>>;

/** What a user does: first in a plan, and then for real. */
interface Move {
  readonly intents?: (client: Client) => Promise<readonly Intent[]>;
  readonly done?: (client: Client) => Promise<unknown>;
}

const creating = (object: Istio): Move => ({
  intents: async (client) => [{ kind: Istio, put: await withoutUid(client.create(Istio, object, { dryRun: true })) }],
  done: (client) => client.create(Istio, object),
});
const changing = (spec: IstioSpec): Move => {
  const patch = { type: 'merge', body: { spec } } as const;
  return {
    intents: async (client) => [{ kind: Istio, put: await client.patch(Istio, REF, patch, { dryRun: true }) }],
    done: (client) => client.patch(Istio, REF, patch),
  };
};
const deleting = (kind: AnyKind, ref: Ref): Move => ({
  intents: async () => [{ kind, delete: ref }],
  done: (client) => client.delete(kind, ref),
});

/** The uid of a dry run is not the one that a write gets. */
async function withoutUid(made: Promise<Istio>): Promise<Istio> {
  const { metadata, ...rest } = await made;
  const { uid: _uid, ...others } = metadata;
  return { ...rest, metadata: others };
}

describeOwnClusters('the plan of a mesh', (cluster) => {
  let client: Client;
  let settings: Partial<MeshSettings> = {
    renderer: builtinRenderer,
    istioVersion: '1.30.0',
    settleMs: 0,
    reconnectMs: 0,
  };

  beforeAll(async () => {
    client = cluster.client();
    await installDefinitions(client, partsOf(['mesh']));
    await client.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'kyma-system' } });
  });
  afterAll(() => client?.close());

  function plan(intents: readonly Intent[] = []): Promise<MeshPlan> {
    return plannedMesh(client, intents, settings, AbortSignal.timeout(60_000));
  }

  async function state(): Promise<State> {
    const lists = KINDS.map(async (kind) => {
      const { items } = await client.list(kind).catch((error: unknown) => {
        if (!isNotFound(error)) throw error;
        return { items: [] };
      });
      return [kind, new Map(items.map((object) => [keyOf(object.metadata), object]))] as const;
    });
    return new Map(await Promise.all(lists));
  }

  /** Runs the controllers until their plan is empty. */
  async function settle(): Promise<void> {
    const manager = new Manager({ client, controllers: mesh(settings), logger: createLogger({ level: 'silent' }) });
    await manager.start();
    try {
      await until(
        async () => manager.idle && (await plan()).changes.length === 0 && isQuiet(await state()) && manager.idle,
        90_000,
      );
    } finally {
      await manager.stop();
    }
  }

  /** Plans and makes a move, and expects that exactly the planned changes happen. */
  async function expectPlanned(move: Move): Promise<MeshPlan> {
    const intents = (await move.intents?.(client)) ?? [];
    const before = await state();
    const planned = await plan(intents);
    await move.done?.(client);
    await settle();
    const happened = differencesOf(before, await state()).map(withoutTimes);
    const expected = planned.changes
      .filter((change) => !isOfKubernetes(change))
      .map(withoutNormalized)
      .map(withoutTimes);
    expect(surprises(expected, happened)).toEqual({ unplanned: [], missing: [] });
    return planned;
  }

  const linesOf = ({ changes }: MeshPlan): string[] =>
    changes.map(({ do: verb, kind, name }) => `${verb} ${kind} ${name}`);

  test('is what happens in an installation, changes, drift, an upgrade, a rejected version, and deletions', async () => {
    const installation = await expectPlanned(creating(istio('default')));
    expect(installation.istios).toEqual([{ istio: 'kyma-system/default', state: 'Ready' }]);
    expect(linesOf(installation)).toContain('make Deployment istiod');
    expect((await plan()).changes).toEqual([]);

    const { changes } = await expectPlanned(
      changing({
        config: { numTrustedProxies: 2 },
        components: {
          egressGateway: { enabled: true },
          pilot: { k8s: { hpaSpec: { minReplicas: 2, maxReplicas: 3 } } },
        },
        networkPoliciesEnabled: true,
      }),
    );
    expect(
      changes.find(({ name, kind }) => kind === 'HorizontalPodAutoscaler' && name === 'istiod')?.fields,
    ).toContainEqual({
      path: 'spec.maxReplicas',
      before: 5,
      after: 3,
    });
    const fewer = await expectPlanned(changing({ components: { egressGateway: { enabled: false } } }));
    expect(linesOf(fewer)).toContain('remove Deployment istio-egressgateway');

    const second = await expectPlanned(creating(istio('second')));
    expect(linesOf(second)).toEqual(['make Istio second']);
    const idle = { state: 'Error', problem: expect.stringContaining('only Istio CR default') };
    expect(second.istios[1]).toMatchObject(idle);
    // In a plan without an intent for it, this is a message and not a problem.
    const beside = (await plan()).istios[1];
    expect(beside).toMatchObject({ message: idle.problem });
    expect(beside).not.toHaveProperty('problem');

    const drift = await expectPlanned({
      intents: async () => {
        const body = { data: { mesh: 'somebody: else' } };
        await client.patch(ConfigMap, { namespace: 'istio-system', name: 'istio' }, { type: 'merge', body });
        return [];
      },
    });
    expect(linesOf(drift)).toEqual(['change ConfigMap istio']);

    settings = { ...settings, istioVersion: '1.32.0' };
    const refused = await expectPlanned({});
    expect(refused.istios[0]).toMatchObject({
      state: 'Warning',
      problem: expect.stringContaining('the difference between versions exceed one minor version'),
    });
    settings = { ...settings, istioVersion: '1.31.0' };
    const upgrade = await expectPlanned({});
    expect(linesOf(upgrade)).toContain('change Deployment istiod');
    expect(upgrade.istios[0]).toEqual({ istio: 'kyma-system/default', state: 'Ready' });

    await client.create(VirtualService, {
      apiVersion: 'networking.istio.io/v1',
      kind: 'VirtualService',
      metadata: { name: 'cart', namespace: 'kyma-system' },
      spec: { hosts: ['cart'], http: [{ route: [{ destination: { host: 'cart' } }] }] },
    });
    const blocked = await expectPlanned(deleting(Istio, REF));
    expect(blocked.istios[0]).toMatchObject({ state: 'Warning', problem: expect.stringContaining('block deletion') });
    const succession = await expectPlanned(deleting(VirtualService, { name: 'cart', namespace: 'kyma-system' }));
    expect(linesOf(succession)).toContain('replace Deployment istiod');
    expect(succession).toMatchObject({
      reinstalledFor: 'kyma-system/second',
      istios: [
        { istio: 'kyma-system/second', state: 'Ready' },
        { istio: 'kyma-system/default', state: 'Gone' },
      ],
    });
    const end = await expectPlanned(deleting(Istio, { ...REF, name: 'second' }));
    expect(linesOf(end)).toContain('remove Namespace istio-system');
    expect(end).not.toHaveProperty('reinstalledFor');
    expect(end.istios).toEqual([{ istio: 'kyma-system/second', state: 'Gone' }]);
  }, 400_000);

  // The server sets many defaults in these objects, and normalizes many fields.
  test.skipIf('missing' in istioctl)(
    'is empty once the manifests of the real istioctl are installed',
    async () => {
      const program = path.join('dir' in istioctl ? istioctl.dir : '', 'istioctl');
      settings = { ...settings, istioVersion, renderer: istioctlRenderer({ program }) };
      const installation = await plan([{ kind: Istio, put: istio('default') }]);
      expect(linesOf(installation)).toContain('make ValidatingWebhookConfiguration istio-validator-istio-system');
      await client.create(Istio, istio('default'));
      await settle();
      expect(await plan()).toMatchObject({ changes: [], istios: [{ state: 'Ready' }] });
    },
    200_000,
  );
});

/** Whether the cluster has finished all deletions, except for Istio resources, whose deletion may be blocked. */
function isQuiet(state: State): boolean {
  return [...state].every(([kind, objects]) =>
    [...objects.values()].every(({ metadata }) => kind === Istio || metadata.deletionTimestamp === undefined),
  );
}

/** The differences, without status and without objects that Kubernetes creates in every namespace. */
function differencesOf(before: State, after: State): readonly ReportedChange[] {
  const writes = [...after].flatMap(([kind, objects]) => {
    const others = before.get(kind)!;
    const keys = [...new Set([...objects.keys(), ...others.keys()])].sort();
    return keys.map((key): Write => {
      const [one, other] = [withoutStatus(others.get(key)), withoutStatus(objects.get(key))];
      return { kind, before: one, after: other, by: '', for: { kind, object: (other ?? one)! } };
    });
  });
  return changesOf(writes)
    .map(reportedChange)
    .filter((change) => !isOfKubernetes(change));
}

/** An object without what Kubernetes writes, including replicas, which an autoscaler sets. */
function withoutStatus(object: KubeObject | undefined): KubeObject | undefined {
  const rest: (KubeObject & { spec?: { replicas?: number } }) | undefined = withoutAssumed(object);
  if (rest?.kind !== 'Deployment') return rest;
  const { replicas: _replicas, ...spec } = rest.spec ?? {};
  const unscaled: KubeObject & { spec: object } = { ...rest, spec };
  return unscaled;
}

function isOfKubernetes({ kind, name }: ReportedChange): boolean {
  return (kind === 'ServiceAccount' && name === 'default') || (kind === 'ConfigMap' && name === 'kube-root-ca.crt');
}

/** A change without fields that the server normalizes: quantities, and empty values. */
function withoutNormalized({ object, ...change }: ReportedChange): ReportedChange {
  const plain = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(plain);
    if (typeof value !== 'object' || value === null) return value;
    const fields = Object.entries(value).filter(([name, inner]) => !QUANTITIES.has(name) && !isAbsent(inner));
    return Object.fromEntries(fields.map(([name, inner]) => [name, plain(inner)]));
  };
  return { ...change, ...(object && { object: plain(object) as typeof object }) };
}

/** A change in comparable form, without the transition times of conditions. */
function withoutTimes(change: ReportedChange): ReportedChange {
  const text = JSON.stringify(change, (name, value: unknown) => (name === 'lastTransitionTime' ? undefined : value));
  const { fields, ...rest } = JSON.parse(text) as ReportedChange;
  return { ...rest, ...(fields && { fields: fields.toSorted((a, b) => (a.path < b.path ? -1 : 1)) }) };
}

const QUANTITIES: ReadonlySet<string> = new Set(['limits', 'requests']);

function isAbsent(value: unknown): boolean {
  return value === false || value === '' || (typeof value === 'object' && JSON.stringify(value) === '{}');
}
