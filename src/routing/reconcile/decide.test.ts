import { describe, expect, test } from 'vitest';
import { decide, keptBackends } from './decide.ts';
import type { Guards } from './decide.ts';
import type { Found, Resource } from './resources.ts';

const GUARDS: Guards = {
  unresolved: [],
  unresolvedHosts: [],
  adopt: false,
  allowEmpty: false,
  maxDeleteFraction: 0.5,
  isEnding: false,
};

const node = (name: string, backends: readonly string[] = []): Resource => ({
  type: 'virtualNode',
  id: name,
  name,
  host: `${name}.svc`,
  backends,
});
const service = (of: string, router?: string): Resource => ({
  type: 'virtualService',
  id: `${of}.svc`,
  name: `${of}.svc`,
  host: `${of}.svc`,
  ...(router !== undefined && { router }),
});
const router = (name: string): Resource => ({ type: 'virtualRouter', id: name, name });
const route = (of: string, name: string): Resource => ({ type: 'route', id: `${of}/${name}`, name, router: of });
const mesh: Resource = { type: 'mesh', id: 'store', name: 'store' };

const ours = (...resources: Resource[]): Found<Resource>[] => resources.map((each) => ({ ...each, isOurs: true }));
const foreign = (...resources: Resource[]): Found<Resource>[] => resources.map((each) => ({ ...each, isOurs: false }));
const idsOf = (resources: readonly Resource[]): string[] => resources.map(({ type, id }) => `${type} ${id}`);

const FEW = [node('a'), node('b'), node('c'), service('a'), service('b'), service('c')];

describe('a mesh that gets another name', () => {
  const other: Resource = { type: 'mesh', id: 'other', name: 'other' };

  test('is made under it, and the one before goes when nothing is in it any more', () => {
    const { writes, removals } = decide([other, ...FEW], ours(mesh, ...FEW), GUARDS);
    expect(idsOf(writes)).toContain('mesh other');
    expect(removals.map(idsOf)).toEqual([['mesh store']]);
  });

  test('takes along what can move; what cannot is removed first, and no more at once than is allowed', () => {
    const stale = (...resources: Resource[]) => ours(...resources).map((each) => ({ ...each, isStale: true }));
    const found = [...ours(mesh, node('a'), service('a')), ...stale(node('b'), service('b'))];
    const wanted = [other, node('a'), node('b'), service('a'), service('b')];
    const { writes, removals } = decide(wanted, found, GUARDS);
    expect(idsOf(writes)).toEqual(['mesh other', 'virtualNode a', 'virtualService a.svc']);
    expect(removals.map(idsOf)).toEqual([['virtualService b.svc'], ['virtualNode b'], ['mesh store']]);
    const blocked = decide(wanted, stale(node('a'), node('b'), service('a'), service('b')), GUARDS);
    expect(blocked).toMatchObject({ removals: [], blocked: { code: 'DELETION_BLOCKED' } });
  });
});

describe('order', () => {
  test('what others refer to is made first', () => {
    const { writes } = decide([service('a', 'r'), route('r', '0'), router('r'), node('a'), mesh], [], GUARDS);
    expect(idsOf(writes)).toEqual([
      'mesh store',
      'virtualNode a',
      'virtualRouter r',
      'route r/0',
      'virtualService a.svc',
    ]);
  });

  test('what refers to others is removed first, one type after the other, and the mesh itself stays', () => {
    const all = ours(mesh, ...FEW, node('d'), router('r'), route('r', '0'), service('d', 'r'));
    const { removals } = decide([mesh, ...FEW], all, GUARDS);
    expect(removals.map(idsOf)).toEqual([
      ['virtualService d.svc'],
      ['route r/0'],
      ['virtualRouter r'],
      ['virtualNode d'],
    ]);
  });

  test('of a mesh that is being deleted everything goes, and the mesh last', () => {
    const { removals, blocked } = decide([], ours(mesh, node('a'), service('a')), { ...GUARDS, isEnding: true });
    expect(removals.map(idsOf)).toEqual([['virtualService a.svc'], ['virtualNode a'], ['mesh store']]);
    expect(blocked).toBeUndefined();
  });

  test('the same route name in another router is another route', () => {
    const { writes, removals } = decide(
      [...FEW, router('new'), route('new', '0')],
      ours(...FEW, router('old'), route('old', '0')),
      GUARDS,
    );
    expect(idsOf(writes)).toContain('route new/0');
    expect(removals.map(idsOf)).toEqual([['route old/0'], ['virtualRouter old']]);
  });
});

describe('what others made', () => {
  test('is never removed', () => {
    expect(decide(FEW, [...ours(...FEW), ...foreign(node('x'), service('x'))], GUARDS).removals).toEqual([]);
  });

  test('is not even removed with the mesh', () => {
    expect(decide([], foreign(mesh, node('x')), { ...GUARDS, isEnding: true }).removals).toEqual([]);
  });

  test('keeps a mesh of ours from going', () => {
    const { removals } = decide([], [...ours(mesh, node('a')), ...foreign(node('x'))], { ...GUARDS, isEnding: true });
    expect(removals.map(idsOf)).toEqual([['virtualNode a']]);
  });

  test('is left alone under a name that we want, and told', () => {
    const decision = decide([node('a'), node('b')], foreign(node('a')), GUARDS);
    expect(idsOf(decision.writes)).toEqual(['virtualNode b']);
    expect(decision.foreign).toEqual([expect.objectContaining({ code: 'RESOURCE_FOREIGN' })]);
    expect(decision.foreign[0]!.message).toContain('virtual node a was created by somebody else');
    const [named] = decide([node('a')], [{ ...node('a'), isOurs: false, owner: 'Mesh shop/other' }], GUARDS).foreign;
    expect(named!.message).toContain('virtual node a was made for Mesh shop/other');
  });

  test('is taken over if the mesh says so', () => {
    const decision = decide([node('a')], foreign(node('a')), { ...GUARDS, adopt: true });
    expect(idsOf(decision.writes)).toEqual(['virtualNode a']);
    expect(decision.foreign).toEqual([]);
  });

  test('a mesh is used as it is', () => {
    const { writes, foreign: told } = decide([mesh, node('a')], foreign(mesh), GUARDS);
    expect(idsOf(writes)).toEqual(['virtualNode a']);
    expect(told).toEqual([]);
  });

  test('a service is not led to a router of others', () => {
    const { writes } = decide(
      [node('a'), router('r'), route('r', '0'), service('a', 'r')],
      foreign(router('r')),
      GUARDS,
    );
    expect(idsOf(writes)).toEqual(['virtualNode a']);
  });
});

describe('guards', () => {
  test('the last virtual nodes stay unless the mesh may be empty', () => {
    const found = ours(node('a'), service('a'));
    const { removals, blocked, kept } = decide([mesh], found, GUARDS);
    expect({ removals, kept: kept.length }).toEqual({ removals: [], kept: 2 });
    expect(blocked).toMatchObject({ code: 'DELETION_BLOCKED' });
    expect(blocked!.message).toContain('spec.awsAppMesh.allowEmpty');
    expect(decide([mesh], found, { ...GUARDS, allowEmpty: true }).removals.map(idsOf)).toEqual([
      ['virtualService a.svc'],
      ['virtualNode a'],
    ]);
  });

  test('more than half of the virtual nodes and services do not go at once', () => {
    const wanted = [node('a'), service('a')];
    const { blocked, removals } = decide(wanted, ours(...FEW), GUARDS);
    expect(blocked!.message).toBe(
      '4 of 6 virtual nodes and services would be removed, more than 50 %: raise spec.awsAppMesh.maxDeleteFraction if that is intended',
    );
    expect(removals).toEqual([]);
    expect(decide(wanted, ours(...FEW), { ...GUARDS, maxDeleteFraction: 0.7 }).removals.flat()).toHaveLength(4);
  });

  test('half of them may go', () => {
    expect(decide([node('a')], ours(node('a'), node('b')), GUARDS).blocked).toBeUndefined();
  });

  test('all of them may be replaced: those that come count, too', () => {
    expect(decide([node('c'), node('d')], ours(node('a'), node('b')), GUARDS).blocked).toBeUndefined();
  });

  test('a rule may take any number of routes with it', () => {
    const routes = Array.from({ length: 20 }, (_, i) => route('r', `${i}`));
    const found = ours(node('a'), service('a'), router('r'), ...routes);
    expect(decide([node('a'), service('a')], found, GUARDS).removals.flat()).toHaveLength(21);
  });

  test('nothing is removed, and all is still called, while what is wanted changes', () => {
    const found = ours(...FEW, node('d'), service('d'));
    const unsettled = decide(FEW, found, { ...GUARDS, isUnsettled: true });
    expect(unsettled).toMatchObject({ removals: [], isWaiting: true });
    expect(keptBackends(node('a', ['d.svc']), unsettled.kept, node('a'))).toEqual(['d.svc']);
    expect(decide(FEW, found, GUARDS)).toMatchObject({
      isWaiting: false,
      removals: [[{ id: 'd.svc' }], [{ id: 'd' }]],
    });
    expect(decide([], found, { ...GUARDS, isUnsettled: true, isEnding: true }).isWaiting).toBe(false);
  });

  test('nothing to remove is never blocked', () => {
    expect(decide([mesh], ours(mesh), GUARDS).blocked).toBeUndefined();
  });
});

describe('a virtual node that pods still name', () => {
  const found = ours(...FEW, node('d'), router('r'), route('r', '0'), service('d', 'r'));

  test('stays with the service, the router and the routes that lead to it', () => {
    const { removals, kept } = decide(FEW, found, { ...GUARDS, unresolved: ['d'] });
    expect(removals).toEqual([]);
    expect(idsOf(kept)).toEqual(['virtualNode d', 'virtualService d.svc', 'virtualRouter r', 'route r/0']);
  });

  test('stays a target of the routes of another host, whose rule is rejected for it', () => {
    const split = ours(...FEW, node('d'), service('a', 'r'), router('r'), route('r', '0')).filter(
      ({ id, router: of }) => id !== 'a.svc' || of !== undefined,
    );
    const guards = { ...GUARDS, unresolved: ['d'], unresolvedHosts: ['a.svc'] };
    const { writes, removals, kept } = decide([...FEW, route('r', '1')], split, guards);
    expect(removals).toEqual([]);
    expect(idsOf(kept)).toEqual(['virtualNode d', 'virtualRouter r', 'route r/0']);
    expect(idsOf(writes)).not.toContain('virtualService a.svc');
    expect(idsOf(writes)).not.toContain('route r/1');
  });

  test('leaves a host that had no routes as it is wanted', () => {
    const { writes } = decide(FEW, ours(...FEW), { ...GUARDS, unresolved: ['d'], unresolvedHosts: ['a.svc'] });
    expect(idsOf(writes)).toEqual(idsOf(FEW));
  });

  test('stays a backend of those who call it', () => {
    const caller = node('a', ['d.svc', 'gone.svc', 'b.svc']);
    const { kept } = decide(FEW, found, { ...GUARDS, unresolved: ['d'] });
    expect(keptBackends(caller, kept, node('a', ['b.svc']))).toEqual(['d.svc']);
  });

  test('goes with the mesh', () => {
    const { removals } = decide([], found, { ...GUARDS, unresolved: ['d'], isEnding: true });
    expect(removals.flat()).toHaveLength(found.length);
  });
});
