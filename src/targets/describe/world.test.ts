import { expect, test } from 'vitest';
import { readerOf } from '../../api/testing/reader.ts';
import { boundClaim, sandboxClass, target } from '../testing/claim-world.ts';
import { progressSources } from './progress-sources.ts';
import { claimWorld, targetWorld } from './world.ts';

const { bound, made, all } = boundClaim();

test('claimWorld contains the target and what stands behind it, down to the Secret', () => {
  const world = claimWorld(readerOf(all), bound);
  expect([world.target?.metadata.name, world.ofClass?.metadata.name]).toEqual(['staging-dt', 'sandbox']);
  expect(world.requests).toEqual([made]);
  expect([[...world.namespaces.keys()], [...world.secrets.keys()]]).toEqual([['place'], ['access']]);
  expect(world.events.map(({ reason }) => reason)).toContain('Bound');
});

test('claimWorld marks objects that may not be read as hidden, not as missing', () => {
  const { namespaces: seen, target: none } = claimWorld(
    readerOf(all, ['Namespace place', 'DeploymentTarget team/staging-dt']),
    bound,
  );
  expect([seen.get('place'), none]).toEqual(['hidden', undefined]);
});

test('targetWorld contains the claim only if it is the one that the target is bound to', () => {
  const other = { ...bound, metadata: { ...bound.metadata, uid: 'another' } };
  const held = target('Bound', { annotations: { 'dt.appstudio.redhat.com/claim-uid': bound.metadata.uid! } });
  expect(targetWorld(readerOf([bound]), held).claim).toBe(bound);
  expect(targetWorld(readerOf([other]), held).claim).toBeUndefined();
});

test('progressSources follows targets and what the provisioner of the class makes', () => {
  const kinds = (provisioner?: string): string[] =>
    progressSources(bound, provisioner === undefined ? undefined : sandboxClass(provisioner)).map(
      ({ kind }) => kind.kind,
    );
  expect(kinds()).toEqual(['DeploymentTarget']);
  expect(kinds('appstudio.redhat.com/devsandbox')).toEqual(['DeploymentTarget', 'SpaceRequest']);
  expect(kinds('offshoot.dev/namespace')).toEqual(['DeploymentTarget', 'Namespace']);
  const [targets] = progressSources(bound, undefined);
  expect(targets!.seen([target('Available')])).toMatchObject({ target: { metadata: { name: 'staging-dt' } } });
});
