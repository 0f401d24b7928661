import { expect, test } from 'vitest';
import type { Pod } from '../workloads/workloads.ts';
import { versionGate } from './gate.ts';
import { istiodTags, runningVersion, versionMismatch } from './running.ts';

const gate = (target: string, recorded?: string, running: string[] = []) =>
  versionGate(target, { ...(recorded !== undefined && { recorded }), running });

test.each([
  ['1.16.1-distroless', '1.16.1-distroless'],
  ['1.17.0-distroless', '1.16.1-distroless'],
  ['1.16.2-distroless', '1.16.1-distroless'],
  ['1.16.1-debug', '1.16.1-distroless'],
  ['1.16.1-distroless', '1.16.1-debug'],
])('versionGate allows %s over %s', (target, current) => {
  expect(gate(target, current)).toBeUndefined();
  expect(gate(target, undefined, [current])).toBeUndefined();
});

test('versionGate allows any version in a first installation', () => {
  expect(gate('1.31.0-distroless')).toBeUndefined();
});

const DOWN =
  'target Istio version (1.16.0-distroless) is lower than current version (1.16.1-distroless) - downgrade not supported';
const FAR =
  'target Istio version (1.18.0-distroless) is higher than current Istio version (1.16.1-distroless) - the difference between versions exceed one minor version';
const MAJOR =
  'target Istio version (2.0.0-distroless) is different than current Istio version (1.16.1-distroless) - major version upgrade is not supported';

test.each([
  ['a downgrade', '1.16.0-distroless', DOWN],
  ['two minor versions at once', '1.18.0-distroless', FAR],
  ['another major version', '2.0.0-distroless', MAJOR],
])('versionGate refuses %s with a Warning and the exact text', (_what, target, text) => {
  const refused = {
    state: 'Warning',
    description: `Istio version update is not allowed: ${text}`,
    conditions: [{ type: 'Ready', status: 'False', reason: 'IstioVersionUpdateNotAllowed' }],
  };
  expect(gate(target, '1.16.1-distroless')).toMatchObject(refused);
  expect(gate(target, undefined, ['1.16.1-distroless'])).toMatchObject(refused);
});

test('versionGate requires that both the running istiod and the annotation allow the update', () => {
  expect(gate('1.17.0', '1.16.1', ['1.15.0'])?.description).toContain('current Istio version (1.15.0)');
  expect(gate('1.16.1', '1.16.1', ['1.17.0'])?.description).toContain('is lower than current version (1.17.0)');
  expect(gate('1.17.0', '1.16.1', ['1.17.0', '1.16.1'])).toBeUndefined();
});

test.each([
  ['fake-distroless', undefined, 'fake is not in dotted-tri format'],
  ['1.17.0', '1.16', '1.16 is not in dotted-tri format'],
  ['1.17.0', 'latest', 'latest is not in dotted-tri format'],
])('versionGate of %s over %s is an Error, as they cannot be compared', (target, current, text) => {
  expect(gate(target, current)).toMatchObject({ state: 'Error', description: `Istio version check failed: ${text}` });
});

test('versionGate refuses an update of an istiod of unknown version, unless the annotation has its version', () => {
  expect(gate('1.17.0', undefined, ['latest'])?.description).toBe(
    'Istio version check failed: the tag of the running istiod: latest is not in dotted-tri format',
  );
  expect(gate('1.17.0', '1.16.1', ['latest'])).toBeUndefined();
});

const pod = (name: string, images: Record<string, string>, metadata: Partial<Pod['metadata']> = {}): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'istio-system', labels: { 'kyma-project.io/module': 'istio' }, ...metadata },
  spec: { containers: Object.entries(images).map(([container, image]) => ({ name: container, image })) },
});
const istiod = pod('istiod', { discovery: 'hub.example:5000/istio/pilot:1.16.1-distroless' });
const gateway = (tag: string): Pod => pod('istio-ingressgateway', { 'istio-proxy': `istio/proxyv2:${tag}` });

test('runningVersion finds the version of control-plane pods of all flavours', () => {
  const cni = pod('istio-cni-node', { 'install-cni': 'istio/install-cni:1.16.1-distroless@sha256:abc' });
  const other = pod('mine', { 'istio-proxy': 'istio/proxyv2:1.0.0' }, { labels: {} });
  expect(runningVersion([istiod, gateway('1.16.1'), cni, other])).toEqual({ version: '1.16.1' });
});

test('runningVersion ignores a terminating pod', () => {
  const going = pod('old', { discovery: 'istio/pilot:1.15.0' }, { deletionTimestamp: '2026-01-01T00:00:00Z' });
  expect(runningVersion([going, istiod])).toEqual({ version: '1.16.1' });
});

test.each([
  ['no pods', [], 'Unable to obtain installed Istio image version'],
  [
    'a pod without a container of Istio',
    [pod('x', { app: 'a:1.0.0' })],
    'Unable to obtain installed Istio image version',
  ],
  [
    'mixed versions',
    [pod('istiod', { discovery: 'istio/pilot:1.0.0' }), gateway('1.10.0')],
    'Image version of pod istio-ingressgateway: 1.10.0 do not match version: 1.0.0',
  ],
  ['the tag latest', [gateway('latest')], 'Invalid Semantic Version'],
  ['the tag wrong', [gateway('wrong')], 'Invalid Semantic Version'],
  ['no tag', [pod('x', { discovery: 'istio/pilot' })], 'Unable to parse container image reference: istio/pilot'],
])('runningVersion is not known with %s', (_what, pods, problem) => {
  expect(runningVersion(pods)).toEqual({ problem });
});

test('versionMismatch reports pods of another version than the target', () => {
  expect(versionMismatch({ version: '1.16.0' }, '1.16.1-distroless')).toBe(
    'istio-system pods version: 1.16.0 do not match target version: 1.16.1',
  );
  expect(versionMismatch({ version: '1.16.1' }, '1.16.1-distroless')).toBeUndefined();
});

test('istiodTags finds the tags of any istiod', () => {
  const foreign = pod('istiod', { discovery: 'istio/pilot:1.30.2' }, { labels: { app: 'istiod' } });
  expect(istiodTags([foreign, foreign, gateway('1.0.0')])).toEqual(['1.30.2']);
});
