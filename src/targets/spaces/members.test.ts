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

describe('who may do what in a space', () => {
  const members = (it: Space, ...others: KubeObject[]) =>
    Object.fromEntries(planIn([it, ...others], (view) => membersOf(view, it)));
  const child = space('jane-dev', { parentSpace: 'jane' });
  const parent = space('jane', { parentSpace: 'root' });

  test('those of its parent, where it has none of its own', () => {
    const all = [parent, binding('jane', 'jane', 'admin'), binding('lara', 'jane', 'viewer')];
    expect(members(child, ...all)).toEqual({ admin: ['jane'], viewer: ['lara'] });
  });

  test('both, where they are different people', () => {
    const all = [parent, binding('jane', 'jane', 'admin'), binding('john', 'jane-dev', 'admin')];
    expect(members(child, ...all)).toEqual({ admin: ['jane', 'john'] });
  });

  test('what somebody is in the space itself, whatever they are above it', () => {
    const all = [parent, binding('jane', 'jane', 'admin'), binding('jane', 'jane-dev', 'viewer')];
    expect(members(child, ...all)).toEqual({ viewer: ['jane'] });
  });

  test('those of all spaces above it, the nearest first', () => {
    const all = [
      parent,
      space('root'),
      binding('ann', 'root', 'admin'),
      binding('bob', 'root', 'admin'),
      binding('bob', 'jane', 'maintainer'),
    ];
    expect(members(child, ...all)).toEqual({ admin: ['ann'], maintainer: ['bob'] });
  });

  test('only its own, where it inherits nothing', () => {
    const alone = space('jane-dev', { parentSpace: 'jane', disableInheritance: true });
    const all = [parent, binding('jane', 'jane', 'admin'), binding('john', 'jane-dev', 'admin')];
    expect(members(alone, ...all)).toEqual({ admin: ['john'] });
  });

  test('nobody whose binding is going, and everybody once where parents go in a circle', () => {
    const circle = [space('jane', { parentSpace: 'jane-dev' }), binding('jane', 'jane', 'admin')];
    expect(members(child, ...circle, binding('gone', 'jane', 'admin', { deletionTimestamp: ago(1) }))).toEqual({
      admin: ['jane'],
    });
  });

  test('a tier gives them the rights that it has for them', () => {
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

describe('a space that belongs to no other', () => {
  const aged = (seconds: number, spec: object = {}, name = 'jane') =>
    space(name, spec, { creationTimestamp: ago(seconds) });
  const plan = (it: Space, ...others: KubeObject[]) =>
    planIn([it, ...others], (view) => planCleanup(view, it, defaultSettings));

  test('goes when nobody is bound to it after 30 s, and is looked at again until then', () => {
    expect(shown(plan(aged(31)))).toEqual(['remove Space offshoot-system/jane']);
    expect(plan(aged(30))).toEqual({ requeueAfterMs: 1 });
    expect(plan(aged(10))).toEqual({ requeueAfterMs: 20_001 });
  });

  test('stays with somebody bound to it', () => {
    expect(plan(aged(99), binding('jane', 'jane', 'admin'))).toEqual({});
    expect(shown(plan(aged(99), binding('jane', 'other', 'admin')))).toHaveLength(1);
  });

  test.each([
    ['one below another that is there', aged(99, { parentSpace: 'root' }), [space('root')]],
    ['one below another that is gone', aged(99, { parentSpace: 'root' }), []],
    [
      'one below another that is going',
      aged(99, { parentSpace: 'root' }),
      [space('root', {}, { deletionTimestamp: ago(1) })],
    ],
    ['the root of those who know no spaces', aged(99, {}, 'offshoot'), []],
  ])('and so does %s', (_what, it, others) => {
    expect(plan(it, ...others)).toEqual({});
  });

  test('that is going is left to go', () => {
    expect(plan(space('jane', {}, { creationTimestamp: ago(99), deletionTimestamp: ago(9) }))).toEqual({});
  });
});
