// Runs `offshoot mesh status` as a process with piped output, against a cluster.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { until } from '../../../test/support/until.ts';
import { Istio } from '../../api/istio.ts';
import type { IstioStatus } from '../../api/istio.ts';
import { defineKind } from '../../kube/index.ts';
import { LAST_APPLIED } from '../../mesh/index.ts';
import { openMesh } from '../testing/mesh.ts';
import type { MeshCluster } from '../testing/mesh.ts';

const Deployment = defineKind('apps/v1', 'Deployment', 'deployments');

let mesh: MeshCluster;
beforeAll(async () => {
  mesh = await openMesh();
});
afterAll(() => mesh.stop());

const istio = (name: string, namespace = 'kyma-system'): Istio => ({
  apiVersion: 'operator.kyma-project.io/v1alpha2',
  kind: 'Istio',
  metadata: { name, namespace, annotations: { [LAST_APPLIED]: '{"config":{},"IstioTag":"1.31.0-distroless"}' } },
});

test('status says that nothing is installed, and which version would be', async () => {
  expect(await mesh.run('mesh', 'status')).toEqual({
    code: 0,
    stdout:
      'There is no Istio resource in namespace kyma-system.\n\n' +
      'Istio does not run.\nThis release of Offshoot installs Istio 1.31.0.\n',
    stderr: '',
  });
  expect(await mesh.run('mesh', 'status', '-o', 'name')).toMatchObject({ code: 0, stdout: '' });
});

test('status shows versions, components, restarts, blocking resources, and resources without effect', async () => {
  const { client } = mesh;
  const labels = { app: 'istiod', 'operator.istio.io/component': 'Pilot', 'kyma-project.io/module': 'istio' };
  await client.create(Deployment, {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'istiod', namespace: 'istio-system', labels },
    spec: {
      selector: { matchLabels: { app: 'istiod' } },
      template: {
        metadata: { labels },
        spec: { containers: [{ name: 'discovery', image: 'docker.io/istio/pilot:1.31.0-distroless' }] },
      },
    },
  });
  const made = await client.create(Istio, istio('default'));
  await client.create(Istio, istio('stray', 'istio-system'));
  const status: IstioStatus = {
    state: 'Warning',
    description: 'There are Istio resources that block deletion.',
    observedGeneration: made.metadata.generation!,
    blockedBy: { total: 1, resources: [{ kind: 'VirtualService', namespace: 'shop', name: 'cart' }] },
    restarts: {
      total: 3,
      restarting: 1,
      workloads: [
        { kind: 'Deployment', namespace: 'shop', name: 'cart', why: 'its image is old', waiting: 'the next batch' },
      ],
    },
  };
  await client.patch(Istio, made.metadata, { type: 'merge', body: { status } }, { subresource: 'status' });
  await until(async () => (await mesh.run('mesh', 'status')).stdout.includes('istiod  ready'), 20_000);

  const { stdout, code } = await mesh.run('mesh', 'status');
  expect(code).toBe(0);
  expect(stdout.split('\n')).toEqual([
    'Istio kyma-system/default  Warning  Istio 1.31.0',
    '│  ! There are Istio resources that block deletion.',
    '├─ Component Pilot  ready',
    '│  └─ Deployment istio-system/istiod  ready',
    '├─ Restarts 3 workloads  restarting  1 now, 1 more are not listed',
    '│  └─ Deployment shop/cart  waiting  its image is old',
    '│        ! the next batch',
    '└─ Blocked by 1 resource  blocking',
    '   │  ! delete them, and the deletion continues',
    '   └─ virtualservices.networking.istio.io shop/cart  blocking',
    'Istio istio-system/stray  Pending',
    '   ! Stopped Istio CR reconciliation: istio CR is not in kyma-system namespace',
    '',
    'Istio 1.31.0 runs.',
    'Istio 1.31.0 was installed last.',
    'This release of Offshoot installs Istio 1.31.0.',
    '',
  ]);

  const wide = await mesh.run('mesh', 'status', '-o', 'wide');
  expect(wide.stdout).toMatch(/Pod istiod-\S+ {2}Running {2}docker\.io\/istio\/pilot:1\.31\.0-distroless/);
  const names = await mesh.run('mesh', 'status', '-o', 'name');
  expect(names.stdout).toBe('istio.operator.kyma-project.io/stray\nistio.operator.kyma-project.io/default\n');
});

test('status prints the same as JSON and YAML', async () => {
  const json = JSON.parse((await mesh.run('mesh', 'status', '-o', 'json')).stdout) as unknown;
  expect(json).toMatchObject({
    versions: { running: '1.31.0', recorded: '1.31.0-distroless', offered: '1.31.0' },
    resources: [{ kind: 'Istio', state: 'Warning' }, { name: 'istio-system/stray' }],
  });
  expect(parse((await mesh.run('mesh', 'status', '-o', 'yaml')).stdout)).toEqual(json);
});

test('status -w prints the mesh whenever it changes, until it is interrupted', { timeout: 60_000 }, async () => {
  const watching = mesh.start('mesh', 'status', '-w');
  await until(() => watching.output().includes('Istio kyma-system/default  Warning'), 30_000);
  const ref = { name: 'default', namespace: 'kyma-system' };
  const { metadata } = await mesh.client.get(Istio, ref);
  const status = { state: 'Ready', description: '', observedGeneration: metadata.generation };
  await mesh.client.patch(Istio, ref, { type: 'merge', body: { status } }, { subresource: 'status' });
  await until(() => watching.output().includes('Istio kyma-system/default  Ready'), 30_000);
  watching.child.kill('SIGINT');
  expect(await watching.ended).toMatchObject({ code: 130, stderr: '' });
});

test('status lists the valid formats if -o is invalid', async () => {
  const { code, stderr } = await mesh.run('mesh', 'status', '-o', 'xml');
  expect(code).toBe(1);
  expect(stderr).toContain('table, wide, json, yaml, name');
});
