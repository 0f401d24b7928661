import { expect, test } from 'vitest';
import { defineKind, refOf } from '../kube/objects.ts';
import type { KubeObject } from '../kube/objects.ts';
import { byLabel } from '../kube/tables/object-index.ts';
import { defineTable, Tables } from '../kube/tables/tables.ts';
import { derive } from '../watchable/index.ts';
import { defineModel } from './facts.ts';
import type { View } from './view.ts';
import { WhatIf } from './what-if.ts';

const Thing = defineKind<KubeObject>('test.dev/v1', 'Thing', 'things');

function thing(name: string, team: string, version = 1): KubeObject {
  const metadata = { name, namespace: 'n', uid: `uid-${name}`, resourceVersion: String(version), labels: { team } };
  return { apiVersion: 'test.dev/v1', kind: 'Thing', metadata };
}

const teams = defineModel((facts) =>
  derive('teams', (read, key: string) => facts(read).get(Thing, refOf(key))?.metadata.labels?.['team'], {
    keys: (read) => facts(read).keys(Thing),
    indexes: { team: (team) => [team] },
  }),
);

function world() {
  const tables = new Tables([defineTable(Thing, { indexes: { team: byLabel('team') } })]);
  for (const each of [thing('a', 'blue'), thing('b', 'red')]) tables.of(Thing).observe(each);
  return { tables, whatIf: new WhatIf({ tables, now: () => 42 }) };
}

const namesOf = (objects: readonly KubeObject[]): string[] => objects.map(({ metadata }) => metadata.name);

test('a plan sees objects added, changed and deleted by every kind of read; the tables do not change', () => {
  const { tables, whatIf } = world();
  whatIf.put(Thing, thing('c', 'blue'));
  whatIf.put(Thing, thing('b', 'blue', 2));
  whatIf.remove(Thing, { namespace: 'n', name: 'a' });
  const seen = (view: Pick<View, keyof typeof whatIf.facts>): unknown => ({
    got: view.get(Thing, { namespace: 'n', name: 'a' }),
    all: namesOf(view.list(Thing, { namespace: 'n' })),
    labelled: namesOf(view.list(Thing, { labels: 'team=blue' })),
    indexed: namesOf(view.index(Thing, 'team', 'blue')),
    keys: view.keys(Thing),
    model: view.read.index(view.model(teams), 'team', 'blue'),
    served: view.served(Thing),
  });
  const expected = {
    got: undefined,
    all: ['b', 'c'],
    labelled: ['b', 'c'],
    indexed: ['b', 'c'],
    keys: ['n/b', 'n/c'],
    model: ['blue', 'blue'],
    served: true,
  };
  expect(whatIf.plan('test', seen)).toEqual(expected);
  expect(seen(whatIf.facts)).toEqual(expected);
  expect(namesOf(tables.of(Thing).list())).toEqual(['a', 'b']);
  expect(namesOf(tables.of(Thing).index('team', 'red'))).toEqual(['b']);
});

test('steps are applied until no plan is outdated', () => {
  const { whatIf } = world();
  const made: string[] = [];
  /** Creates the next of three things. */
  const plan = (view: View): void => {
    made.push(String(view.now()));
    const count = view.list(Thing).length;
    if (count < 4) whatIf.put(Thing, thing(`more-${count}`, 'blue'));
  };
  whatIf.plan('maker', plan);
  whatIf.plan('other', (view) => view.get(Thing, { namespace: 'n', name: 'more-3' }));
  const outdated: string[] = [];
  for (let taken = whatIf.takeOutdated(); taken.length > 0; taken = whatIf.takeOutdated()) {
    outdated.push(...taken);
    if (taken.includes('maker')) whatIf.plan('maker', plan);
  }
  expect(made).toHaveLength(3);
  expect(outdated.toSorted()).toEqual(['maker', 'maker', 'other']);
  expect(namesOf(whatIf.facts.list(Thing))).toEqual(['a', 'b', 'more-2', 'more-3']);
});

test('the selectors of a table apply here, too', () => {
  const { tables, whatIf } = world();
  const Blue = defineTable(Thing, { labelSelector: 'team=blue' });
  tables.of(Blue).observe(thing('a', 'blue'));
  whatIf.put(Thing, thing('c', 'red'));
  whatIf.put(Thing, thing('a', 'red', 2));
  whatIf.put(Thing, thing('d', 'blue'));
  expect(whatIf.facts.keys(Blue)).toEqual(['n/d']);
  expect(whatIf.facts.keys(Thing)).toEqual(['n/a', 'n/b', 'n/c', 'n/d']);
});

test('heldFor returns for how long a plan has had the same finding', () => {
  const { tables } = world();
  let now = 0;
  const whatIf = new WhatIf({ tables, now: () => now });
  const found = (): number => whatIf.plan('test', (view) => view.heldFor('it'));
  expect(found()).toBe(0);
  now = 5_000;
  expect(found()).toBe(5_000);
});
