import { describe, expect, test } from 'vitest';
import { Space, SpaceBinding } from '../../api/spaces.ts';
import type { KubeObject, ObjectMeta } from '../../kube/index.ts';
import { RoleBinding } from '../objects.ts';
import { defaultSettings } from '../settings.ts';
import { ago, object, planIn, shown } from '../testing/planning.ts';
import { planCleanup } from './cleanup.ts';
import { membersOf } from './members.ts';
import { planSpace } from './space.ts';
import type { Tier } from './tiers.ts';

const HOST = { namespace: 'offshoot-system' };
const space = (name: string, spec: object = {}, meta: Partial<ObjectMeta> = {}): Space =>
  object(Space, name, { spec }, { ...HOST, ...meta });
const binding = (user: string, of: string, role: string, meta: Partial<ObjectMeta> = {}): SpaceBinding =>
  object(
    SpaceBinding,
    `${user}-${of}`,
    { spec: { masterUserRecord: user, space: of, spaceRole: role } },
    { ...HOST, ...meta },
  );

describe('a space', () => {
  const members = (it: Space, ...others: KubeObject[]) =>
    Object.fromEntries(planIn([it, ...others], (view) => membersOf(view, it)));
  const child = space('jane-dev', { parentSpace: 'jane' });
  const parent = space('jane', { parentSpace: 'root' });

  test('inherits the members of its parent', () => {
    const all = [parent, binding('jane', 'jane', 'admin'), binding('lara', 'jane', 'viewer')];
    expect(members(child, ...all)).toEqual({ admin: ['jane'], viewer: ['lara'] });
  });

  test('has its own members beside those of its parent', () => {
    const all = [parent, binding('jane', 'jane', 'admin'), binding('john', 'jane-dev', 'admin')];
    expect(members(child, ...all)).toEqual({ admin: ['jane', 'john'] });
  });

  test('prefers the role of a user in the space itself to the one in its parent', () => {
    const all = [parent, binding('jane', 'jane', 'admin'), binding('jane', 'jane-dev', 'viewer')];
    expect(members(child, ...all)).toEqual({ viewer: ['jane'] });
  });

  test('inherits from all parent spaces, nearest first', () => {
    const all = [
      parent,
      space('root'),
      binding('ann', 'root', 'admin'),
      binding('bob', 'root', 'admin'),
      binding('bob', 'jane', 'maintainer'),
    ];
    expect(members(child, ...all)).toEqual({ admin: ['ann'], maintainer: ['bob'] });
  });

  test('has only its own members with disableInheritance', () => {
    const alone = space('jane-dev', { parentSpace: 'jane', disableInheritance: true });
    const all = [parent, binding('jane', 'jane', 'admin'), binding('john', 'jane-dev', 'admin')];
    expect(members(alone, ...all)).toEqual({ admin: ['john'] });
  });

  test('ignores bindings that are being deleted, and stops at a cycle of parents', () => {
    const circle = [space('jane', { parentSpace: 'jane-dev' }), binding('jane', 'jane', 'admin')];
    expect(members(child, ...circle, binding('gone', 'jane', 'admin', { deletionTimestamp: ago(1) }))).toEqual({
      admin: ['jane'],
    });
  });

  test('gets the role bindings that its tier makes for its members', () => {
    const tier: Tier = {
      name: 'shared',
      namespaces: ({ metadata }, of) => [
        {
          namespace: { apiVersion: 'v1', kind: 'Namespace', metadata: { name: `${metadata.name}-env` } },
          contents: [...of].map(([role, users]) => ({
            kind: RoleBinding,
            object: {
              apiVersion: 'rbac.authorization.k8s.io/v1',
              kind: 'RoleBinding',
              metadata: { name: `${role}-${users.join('-')}`, namespace: `${metadata.name}-env` },
            },
          })),
        },
      ],
    };
    const it = space('jane-dev', { parentSpace: 'jane', tierName: 'shared', targetCluster: 'local' });
    const settings = { ...defaultSettings, tiers: [tier] };
    const planned = planIn([it, parent, binding('jane', 'jane', 'admin')], (view) => planSpace(view, it, settings));
    expect(shown(planned)).toContain('own RoleBinding jane-dev-env/admin-jane');
  });
});

describe('a space without a parent', () => {
  const aged = (seconds: number, spec: object = {}, name = 'jane') =>
    space(name, spec, { creationTimestamp: ago(seconds) });
  const plan = (it: Space, ...others: KubeObject[]) =>
    planIn([it, ...others], (view) => planCleanup(view, it, defaultSettings));

  test('is deleted if it has no binding after 30 s, and is checked again until then', () => {
    expect(shown(plan(aged(31)))).toEqual(['remove Space offshoot-system/jane']);
    expect(plan(aged(30))).toEqual({ requeueAfterMs: 1 });
    expect(plan(aged(10))).toEqual({ requeueAfterMs: 20_001 });
  });

  test('is kept if it has a binding', () => {
    expect(plan(aged(99), binding('jane', 'jane', 'admin'))).toEqual({});
    expect(shown(plan(aged(99), binding('jane', 'other', 'admin')))).toHaveLength(1);
  });

  test.each([
    ['one whose parent exists', aged(99, { parentSpace: 'root' }), [space('root')]],
    ['one whose parent is gone', aged(99, { parentSpace: 'root' }), []],
    [
      'one whose parent is being deleted',
      aged(99, { parentSpace: 'root' }),
      [space('root', {}, { deletionTimestamp: ago(1) })],
    ],
    ['the root space', aged(99, {}, 'offshoot'), []],
  ])('is deleted, but not %s', (_what, it, others) => {
    expect(plan(it, ...others)).toEqual({});
  });

  test('is left alone while it is being deleted', () => {
    expect(plan(space('jane', {}, { creationTimestamp: ago(99), deletionTimestamp: ago(9) }))).toEqual({});
  });
});
