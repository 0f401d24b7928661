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
  isDeleting: false,
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

describe('a mesh that is renamed', () => {
  const other: Resource = { type: 'mesh', id: 'other', name: 'other' };

  test('is created under the new name, and the former mesh is removed last', () => {
    const { writes, removals } = decide([other, ...FEW], ours(mesh, ...FEW), GUARDS);
    expect(idsOf(writes)).toContain('mesh other');
    expect(removals.map(idsOf)).toEqual([['mesh store']]);
  });

  test('keeps resources that can move, and removes stale ones within the allowed fraction', () => {
    const stale = (...resources: Resource[]) => ours(...resources).map((each) => ({ ...each, isStale: true }));
    const found = [...ours(mesh, node('a'), service('a')), ...stale(node('b'), service('b'))];
    const desired = [other, node('a'), node('b'), service('a'), service('b')];
    const { writes, removals } = decide(desired, found, GUARDS);
    expect(idsOf(writes)).toEqual(['mesh other', 'virtualNode a', 'virtualService a.svc']);
    expect(removals.map(idsOf)).toEqual([['virtualService b.svc'], ['virtualNode b'], ['mesh store']]);
    const blocked = decide(desired, stale(node('a'), node('b'), service('a'), service('b')), GUARDS);
    expect(blocked).toMatchObject({ removals: [], blocked: { code: 'DELETION_BLOCKED' } });
  });
});

describe('decide', () => {
  test('writes referenced resources first', () => {
    const { writes } = decide([service('a', 'r'), route('r', '0'), router('r'), node('a'), mesh], [], GUARDS);
    expect(idsOf(writes)).toEqual([
      'mesh store',
      'virtualNode a',
      'virtualRouter r',
      'route r/0',
      'virtualService a.svc',
    ]);
  });

  test('removes referring resources first, one type at a time, and keeps the mesh itself', () => {
    const all = ours(mesh, ...FEW, node('d'), router('r'), route('r', '0'), service('d', 'r'));
    const { removals } = decide([mesh, ...FEW], all, GUARDS);
    expect(removals.map(idsOf)).toEqual([
      ['virtualService d.svc'],
      ['route r/0'],
      ['virtualRouter r'],
      ['virtualNode d'],
    ]);
  });

  test('removes everything of a mesh that is being deleted, and the mesh last', () => {
    const { removals, blocked } = decide([], ours(mesh, node('a'), service('a')), { ...GUARDS, isDeleting: true });
    expect(removals.map(idsOf)).toEqual([['virtualService a.svc'], ['virtualNode a'], ['mesh store']]);
    expect(blocked).toBeUndefined();
  });

  test('treats the same route name in another router as another route', () => {
    const { writes, removals } = decide(
      [...FEW, router('new'), route('new', '0')],
      ours(...FEW, router('old'), route('old', '0')),
      GUARDS,
    );
    expect(idsOf(writes)).toContain('route new/0');
    expect(removals.map(idsOf)).toEqual([['route old/0'], ['virtualRouter old']]);
  });
});

describe('a resource of another owner', () => {
  test('is never removed', () => {
    expect(decide(FEW, [...ours(...FEW), ...foreign(node('x'), service('x'))], GUARDS).removals).toEqual([]);
  });

  test('is not removed with the mesh either', () => {
    expect(decide([], foreign(mesh, node('x')), { ...GUARDS, isDeleting: true }).removals).toEqual([]);
  });

  test('prevents the removal of our mesh', () => {
    const { removals } = decide([], [...ours(mesh, node('a')), ...foreign(node('x'))], { ...GUARDS, isDeleting: true });
    expect(removals.map(idsOf)).toEqual([['virtualNode a']]);
  });

  test('is left alone under a name that we need, and reported', () => {
    const decision = decide([node('a'), node('b')], foreign(node('a')), GUARDS);
    expect(idsOf(decision.writes)).toEqual(['virtualNode b']);
    expect(decision.foreign).toEqual([expect.objectContaining({ code: 'RESOURCE_FOREIGN' })]);
    expect(decision.foreign[0]!.message).toContain('virtual node a was created by somebody else');
    const [named] = decide([node('a')], [{ ...node('a'), isOurs: false, owner: 'Mesh shop/other' }], GUARDS).foreign;
    expect(named!.message).toContain('virtual node a was made for Mesh shop/other');
  });

  test('is adopted if the mesh allows it', () => {
    const decision = decide([node('a')], foreign(node('a')), { ...GUARDS, adopt: true });
    expect(idsOf(decision.writes)).toEqual(['virtualNode a']);
    expect(decision.foreign).toEqual([]);
  });

  test('is used without a write if it is the mesh', () => {
    const { writes, foreign: problems } = decide([mesh, node('a')], foreign(mesh), GUARDS);
    expect(idsOf(writes)).toEqual(['virtualNode a']);
    expect(problems).toEqual([]);
  });

  test('is not used as the router of our service', () => {
    const { writes } = decide(
      [node('a'), router('r'), route('r', '0'), service('a', 'r')],
      foreign(router('r')),
      GUARDS,
    );
    expect(idsOf(writes)).toEqual(['virtualNode a']);
  });
});

describe('guards', () => {
  test('keep the last virtual nodes unless the mesh may be empty', () => {
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

  test('block the removal of more than half of the virtual nodes and services at once', () => {
    const desired = [node('a'), service('a')];
    const { blocked, removals } = decide(desired, ours(...FEW), GUARDS);
    expect(blocked!.message).toBe(
      '4 of 6 virtual nodes and services would be removed, more than 50 %: raise spec.awsAppMesh.maxDeleteFraction if that is intended',
    );
    expect(removals).toEqual([]);
    expect(decide(desired, ours(...FEW), { ...GUARDS, maxDeleteFraction: 0.7 }).removals.flat()).toHaveLength(4);
  });

  test('allow the removal of half of them', () => {
    expect(decide([node('a')], ours(node('a'), node('b')), GUARDS).blocked).toBeUndefined();
  });

  test('allow the replacement of all of them, as new ones count too', () => {
    expect(decide([node('c'), node('d')], ours(node('a'), node('b')), GUARDS).blocked).toBeUndefined();
  });

  test('allow a deleted rule to remove any number of routes', () => {
    const routes = Array.from({ length: 20 }, (_, i) => route('r', `${i}`));
    const found = ours(node('a'), service('a'), router('r'), ...routes);
    expect(decide([node('a'), service('a')], found, GUARDS).removals.flat()).toHaveLength(21);
  });

  test('block removals and keep all backends until the desired state has settled', () => {
    const found = ours(...FEW, node('d'), service('d'));
    const unsettled = decide(FEW, found, { ...GUARDS, isUnsettled: true });
    expect(unsettled).toMatchObject({ removals: [], isWaiting: true });
    expect(keptBackends(node('a', ['d.svc']), unsettled.kept, node('a'))).toEqual(['d.svc']);
    expect(decide(FEW, found, GUARDS)).toMatchObject({
      isWaiting: false,
      removals: [[{ id: 'd.svc' }], [{ id: 'd' }]],
    });
    expect(decide([], found, { ...GUARDS, isUnsettled: true, isDeleting: true }).isWaiting).toBe(false);
  });

  test('block nothing if there is nothing to remove', () => {
    expect(decide([mesh], ours(mesh), GUARDS).blocked).toBeUndefined();
  });
});

describe('an unresolved virtual node that pods still name', () => {
  const found = ours(...FEW, node('d'), router('r'), route('r', '0'), service('d', 'r'));

  test('is kept with the service, the router and the routes that lead to it', () => {
    const { removals, kept } = decide(FEW, found, { ...GUARDS, unresolved: ['d'] });
    expect(removals).toEqual([]);
    expect(idsOf(kept)).toEqual(['virtualNode d', 'virtualService d.svc', 'virtualRouter r', 'route r/0']);
  });

  test('remains a target of the routes of another host, whose rule is rejected because of it', () => {
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

  test('does not affect a host that had no routes', () => {
    const { writes } = decide(FEW, ours(...FEW), { ...GUARDS, unresolved: ['d'], unresolvedHosts: ['a.svc'] });
    expect(idsOf(writes)).toEqual(idsOf(FEW));
  });

  test('remains a backend of its callers', () => {
    const caller = node('a', ['d.svc', 'gone.svc', 'b.svc']);
    const { kept } = decide(FEW, found, { ...GUARDS, unresolved: ['d'] });
    expect(keptBackends(caller, kept, node('a', ['b.svc']))).toEqual(['d.svc']);
  });

  test('is removed with the mesh', () => {
    const { removals } = decide([], found, { ...GUARDS, unresolved: ['d'], isDeleting: true });
    expect(removals.flat()).toHaveLength(found.length);
  });
});
