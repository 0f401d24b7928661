// The CustomResourceDefinitions of the claim system on an API server: compatible with existing manifests.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { until } from '../../test/support/until.ts';
import { startEmbedded } from '../embedded/index.ts';
import type { Embedded } from '../embedded/index.ts';
import { defineKind } from '../kube/index.ts';
import type { AnyObject, Client } from '../kube/index.ts';
import * as spaces from './spaces.ts';
import * as targets from './targets.ts';
import { DeploymentTarget, DeploymentTargetClaim, DeploymentTargetClass } from './targets.ts';
import { connectAdmin } from '../../test/support/connect-admin.ts';

const Definition = defineKind('apiextensions.k8s.io/v1', 'CustomResourceDefinition', 'customresourcedefinitions', {
  namespaced: false,
});
const resources = [...Object.values(targets), ...Object.values(spaces)].filter((each) => 'crd' in each);

interface Spec {
  readonly scope: string;
  readonly names: { readonly plural: string; readonly shortNames?: readonly string[] };
  readonly versions: readonly {
    readonly name: string;
    readonly subresources: object;
    readonly additionalPrinterColumns: readonly { readonly name: string; readonly jsonPath: string }[];
    readonly schema: { readonly openAPIV3Schema: Readonly<Record<string, unknown>> };
  }[];
}
const specOf = (kind: string): Spec => resources.find((each) => each.kind.kind === kind)!.crd['spec'] as Spec;

test.each([
  ['DeploymentTarget', 'Namespaced', 'deploymenttargets', ['dt']],
  ['DeploymentTargetClaim', 'Namespaced', 'deploymenttargetclaims', ['dtc']],
  ['DeploymentTargetClass', 'Cluster', 'deploymenttargetclasses', ['dtcls']],
  ['Environment', 'Namespaced', 'environments', ['env']],
  ['SpaceRequest', 'Namespaced', 'spacerequests', undefined],
  ['Space', 'Namespaced', 'spaces', undefined],
  ['GitOpsDeploymentManagedEnvironment', 'Namespaced', 'gitopsdeploymentmanagedenvironments', undefined],
])('%s is %s and served as %s', (kind, scope, plural, shortNames) => {
  const { names, versions, ...spec } = specOf(kind);
  expect([spec.scope, names.plural, names.shortNames]).toEqual([scope, plural, shortNames]);
  expect(versions.map(({ name, subresources }) => [name, subresources])).toEqual([['v1alpha1', { status: {} }]]);
});

test.each([
  ['DeploymentTarget', ['Phase', 'Class', 'Claim', 'Namespace', 'Age']],
  ['DeploymentTargetClaim', ['Phase', 'Class', 'Target', 'Ready', 'Reason', 'Age']],
  ['DeploymentTargetClass', ['Provisioner', 'Reclaim', 'Age']],
  ['SpaceRequest', ['Tier', 'TargetClusterURL', 'Ready', 'Reason']],
  ['Space', ['Cluster', 'Tier', 'Ready', 'Reason']],
])('%s has the printer columns %j', (kind, columns) => {
  expect(specOf(kind).versions[0]!.additionalPrinterColumns.map(({ name }) => name)).toEqual(columns);
});

test.each([
  ['SpaceRequest', true],
  ['Space', true],
  ['DeploymentTarget', undefined],
])('%s preserves unknown fields: %s', (kind, kept) => {
  const { openAPIV3Schema } = specOf(kind).versions[0]!.schema;
  expect(openAPIV3Schema['x-kubernetes-preserve-unknown-fields']).toBe(kept);
});

describe('an API server with these definitions', () => {
  let cluster: Embedded;
  let client: Client;

  beforeAll(async () => {
    cluster = await startEmbedded({ simulation: false });
    client = connectAdmin(cluster);
    for (const { crd } of resources) await client.create(Definition, crd);
    const isServed = (kind: typeof Definition): Promise<boolean> =>
      client.list(kind).then(
        () => true,
        () => false,
      );
    for (const { kind } of resources) await until(() => isServed(kind as unknown as typeof Definition));
  });

  afterAll(async () => {
    client.close();
    await cluster.stop();
  });

  const target = (name: string, spec: object = {}): DeploymentTarget => ({
    apiVersion: 'appstudio.redhat.com/v1alpha1',
    kind: 'DeploymentTarget',
    metadata: { name, namespace: 'default' },
    spec: {
      deploymentTargetClassName: '',
      kubernetesCredentials: { defaultNamespace: '', apiURL: 'https://api', clusterCredentialsSecret: 'key' },
      ...spec,
    },
  });

  test('sets allowInsecureSkipTLSVerify of a target to false by default', async () => {
    const made = await client.create(DeploymentTarget, target('secure'));
    expect(made.spec.kubernetesCredentials.allowInsecureSkipTLSVerify).toBe(false);
  });

  test.each([
    ['name', 'my-claim'],
    ['object', { name: 'my-claim' }],
    ['nothing', ''],
  ])('stores the claimRef of a target unchanged: %s', async (shape, claimRef) => {
    const made = await client.create(DeploymentTarget, target(`by-${shape}`, { claimRef }));
    expect(made.spec.claimRef).toEqual(claimRef);
  });

  test.each([
    ['no class', { deploymentTargetClassName: undefined }, 'spec.deploymentTargetClassName'],
    ['no credentials', { kubernetesCredentials: undefined }, 'spec.kubernetesCredentials'],
    ['no URL', { kubernetesCredentials: { defaultNamespace: '', clusterCredentialsSecret: '' } }, 'apiURL'],
  ])('rejects a target with %s', async (_what, spec, field) => {
    await expect(client.create(DeploymentTarget, target('refused', spec))).rejects.toThrow(field);
  });

  const ofClass = (name: string, spec: object = {}): DeploymentTargetClass => ({
    apiVersion: 'appstudio.redhat.com/v1alpha1',
    kind: 'DeploymentTargetClass',
    metadata: { name },
    spec: { provisioner: 'appstudio.redhat.com/devsandbox', reclaimPolicy: 'Delete', ...spec },
  });

  test('stores any parameters of a class unchanged', async () => {
    const parameters = { numOfNodes: 3, nested: { list: [1, 'two'] } };
    const made = await client.create(DeploymentTargetClass, ofClass('with-parameters', { parameters }));
    expect(made.spec.parameters).toEqual(parameters);
  });

  test('rejects changes to the spec of a class, and accepts changes to its labels', async () => {
    await client.create(DeploymentTargetClass, ofClass('fixed'));
    const body = { spec: { reclaimPolicy: 'Retain' } };
    const changed = client.patch(DeploymentTargetClass, { name: 'fixed' }, { type: 'merge', body });
    await expect(changed).rejects.toThrow('the spec is immutable');
    await client.patch(
      DeploymentTargetClass,
      { name: 'fixed' },
      { type: 'merge', body: { metadata: { labels: { a: 'b' } } } },
    );
  });

  test('rejects a class with an unknown reclaimPolicy', async () => {
    const made = client.create(DeploymentTargetClass, ofClass('odd', { reclaimPolicy: 'Recycle' }));
    await expect(made).rejects.toThrow('spec.reclaimPolicy');
  });

  describe('a condition of a claim', () => {
    const good = {
      type: 'ErrorOccurred',
      status: 'False',
      reason: 'Success',
      message: '',
      lastTransitionTime: '2026-01-01T00:00:00Z',
    };
    const writeCondition = (condition: object): Promise<AnyObject> =>
      client.patch(
        DeploymentTargetClaim as unknown as typeof Definition,
        { name: 'told', namespace: 'default' },
        { type: 'merge', body: { status: { conditions: [condition] } } },
        { subresource: 'status' },
      );

    beforeAll(async () => {
      await client.create(DeploymentTargetClaim, {
        apiVersion: 'appstudio.redhat.com/v1alpha1',
        kind: 'DeploymentTargetClaim',
        metadata: { name: 'told', namespace: 'default' },
        spec: { deploymentTargetClassName: '' },
      });
    });

    test('may have an empty message', async () => {
      expect((await writeCondition(good))['status']).toEqual({ conditions: [good] });
    });

    test.each([
      ['without a message', { message: undefined }],
      ['with an empty reason', { reason: '' }],
      ['with a reason that is not a single word', { reason: 'not one' }],
      ['with an unknown status', { status: 'Maybe' }],
      ['without a time', { lastTransitionTime: undefined }],
    ])('is rejected %s', async (_what, change) => {
      await expect(writeCondition({ ...good, ...change })).rejects.toThrow('status.conditions[0]');
    });
  });
});
