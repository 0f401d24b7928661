import { describe, expect, test } from 'vitest';
import {
  annotate,
  defineKind,
  defineTable,
  edit,
  make,
  NotSynced,
  own,
  remove,
  Tables,
  token,
} from '../../kube/index.ts';
import type { AnyObject, Kind, KubeObject } from '../../kube/index.ts';
import { defineController } from '../definition.ts';
import type { ControllerDefinition, Plan } from '../definition.ts';
import type { View } from '../view.ts';
import { forecast } from './forecast.ts';
import type { Forecast, ForecastOptions, Intent } from './forecast.ts';
import { reportForecast, reportOf } from './report.ts';

const Wish = defineKind('example.com/v1', 'Wish', 'wishes');
const Thing = defineKind('example.com/v1', 'Thing', 'things');
const Secret = defineKind('v1', 'Secret', 'secrets');
const Namespace = defineKind('v1', 'Namespace', 'namespaces', { namespaced: false });
const KINDS = [Wish, Thing, Secret, Namespace];
const NOW = Date.parse('2026-01-01T00:00:00Z');

function object(kind: Kind, name: string, fields: object = {}, metadata: object = {}): AnyObject {
  const group = kind.group === '' ? '' : `${kind.group}/`;
  return {
    apiVersion: `${group}${kind.version}`,
    kind: kind.kind,
    metadata: {
      name,
      ...(kind.namespaced && { namespace: 'team' }),
      uid: `uid-of-${name}`,
      resourceVersion: '1',
      generation: 1,
      ...metadata,
    },
    ...fields,
  };
}

const wish = (fields: object = {}, metadata: object = {}): AnyObject => object(Wish, 'wish', fields, metadata);
const bare = (kind: Kind, name: string, fields: object = {}): AnyObject => ({
  apiVersion: object(kind, name).apiVersion,
  kind: kind.kind,
  metadata: { name, ...(kind.namespaced && { namespace: 'team' }) },
  ...fields,
});

function controller(
  plan: (view: View, object: AnyObject) => Plan,
  more: Partial<ControllerDefinition<AnyObject>> = {},
): ControllerDefinition {
  return defineController<AnyObject>({
    name: 'granter',
    kind: Wish,
    plan,
    ...more,
  });
}

function tablesOf(objects: readonly AnyObject[]): Tables {
  const tables = new Tables(KINDS);
  for (const each of objects) tables.of(KINDS.find(({ kind }) => kind === each.kind)!).observe(each);
  return tables;
}

function run(
  controllers: readonly ControllerDefinition[],
  objects: readonly AnyObject[],
  options: Partial<ForecastOptions> = {},
): Forecast {
  return forecast({ controllers, tables: tablesOf(objects), now: NOW, ...options });
}

function shown({ changes }: Forecast): string[] {
  return changes.map(({ do: verb, kind, after, before, fields, by }) => {
    const { name } = (after ?? before)!.metadata;
    const what = fields.map(({ path, before: one, after: other }) => `${path}: ${text(one)} → ${text(other)}`);
    return `${verb} ${kind.kind} ${name} by ${by.join(', ')}${what.map((each) => `; ${each}`).join('')}`;
  });
}

const text = (value: unknown): string => (value === undefined ? '' : JSON.stringify(value));

describe('forecast', () => {
  test('plans for an object and for those that follow from it, until nothing is left to do', () => {
    const granter = controller((view, it) => {
      const isMade = view.get(Thing, { name: 'thing', namespace: 'team' }) !== undefined;
      return { steps: [make(Thing, bare(Thing, 'thing'))], status: { ...(it['status'] as object), isMade } };
    });
    const painter = controller(
      (_view, thing) => ({ steps: [edit(Thing, thing, { ...thing, spec: { colour: 'red' } })] }),
      { name: 'painter', kind: Thing },
    );
    expect(shown(run([granter, painter], [wish()]))).toEqual([
      'make Thing thing by granter, painter',
      'change Wish wish by granter; status:  → {"isMade":true}',
    ]);
  });

  test('has no writes if everything is as desired', () => {
    const thing = { ...bare(Thing, 'thing'), spec: { colour: 'red' } };
    const granter = controller(() => ({ steps: [own(Thing, thing)] }));
    const first = run([granter], [wish()]);
    const made = first.changes[0]!.after as AnyObject;
    expect(run([granter], [wish(), made]).writes).toEqual([]);
  });

  test('does not change the tables', () => {
    const tables = tablesOf([wish()]);
    forecast({ controllers: [controller(() => ({ steps: [make(Thing, bare(Thing, 'thing'))] }))], tables, now: NOW });
    expect([...tables.of(Thing).keys()]).toEqual([]);
  });

  test('adds finalizers before the first plan, and removes them after the last', () => {
    const granter = controller((_view, it) => ({ finished: it.metadata.deletionTimestamp !== undefined }), {
      finalizers: ['example.com/hold'],
    });
    expect(shown(run([granter], [wish()]))).toEqual([
      'change Wish wish by granter; metadata.finalizers:  → ["example.com/hold"]',
    ]);
    const held = wish({}, { finalizers: ['example.com/hold'] });
    const intents: Intent[] = [{ kind: Wish, delete: held.metadata }];
    expect(shown(run([granter], [held], { intents }))).toEqual(['remove Wish wish by you, granter']);
  });

  test('includes delayed writes, up to the horizon', () => {
    const patient = controller((view) =>
      view.now() < NOW + 5000
        ? { requeueAfterMs: NOW + 5000 - view.now() }
        : { steps: [make(Thing, bare(Thing, 'thing'))] },
    );
    expect(shown(run([patient], [wish()]))).toEqual(['make Thing thing by granter']);
    expect(run([patient], [wish()], { horizonMs: 4000 }).changes).toEqual([]);
  });

  test('tells plans for how long a finding has held', () => {
    const patient = controller((view) => {
      const leftMs = 3000 - view.heldFor('missing');
      return leftMs > 0 ? { requeueAfterMs: leftMs } : { status: { problem: 'missing' } };
    });
    expect(shown(run([patient], [wish()]))).toEqual(['change Wish wish by granter; status:  → {"problem":"missing"}']);
  });
});

describe('a time to live', () => {
  const expiring = (at: number): ControllerDefinition =>
    controller((view, object) => {
      const leftMs = view.untilExpiry(at);
      if (leftMs <= 0) return { steps: [remove(Wish, object)] };
      return view.now() < NOW + 5000 ? { requeueAfterMs: Math.min(1000, leftMs) } : { status: { is: 'alive' } };
    });

  test('that is over at the start ends', () => {
    expect(shown(run([expiring(NOW)], [wish()]))).toEqual(['remove Wish wish by granter']);
  });

  test('that is over later does not end, although the clock advances beyond it', () => {
    expect(shown(run([expiring(NOW + 2000)], [wish()]))).toEqual([
      'change Wish wish by granter; status:  → {"is":"alive"}',
    ]);
  });
});

test('a forecast throws NotSynced for a table that is not synced, and does not report a stall', () => {
  const early = controller(() => {
    throw new NotSynced(tablesOf([]).of<KubeObject>(Thing));
  });
  expect(() => run([early], [wish()])).toThrow(NotSynced);
});

test('several controllers with one field manager own their fields together', () => {
  const thing = bare(Thing, 'thing', { spec: { colour: 'red' } });
  const first = run([controller(() => ({ steps: [own(Thing, thing)] }), { fieldManager: 'offshoot-both' })], [wish()]);
  const made = first.changes[0]!.after as AnyObject;
  const second = controller(() => ({ steps: [own(Thing, bare(Thing, 'thing'))] }), {
    name: 'other',
    fieldManager: 'offshoot-both',
  });
  expect(shown(run([second], [wish(), made]))).toEqual(['change Thing thing by other; spec: {"colour":"red"} → ']);
});

describe('a CustomResourceDefinition', () => {
  const Definition = defineKind('apiextensions.k8s.io/v1', 'CustomResourceDefinition', 'customresourcedefinitions', {
    namespaced: false,
  });
  const definition = object(Definition, 'things.example.com');
  const grants = controller((view) => {
    const steps = [own(Definition, bare(Definition, 'things.example.com'))];
    return { steps: view.served(Thing) ? [...steps, own(Thing, bare(Thing, 'thing'))] : steps };
  });
  const worldOf = (isServed: boolean, objects: readonly AnyObject[]): Tables => {
    const tables = new Tables([...KINDS, Definition]);
    for (const each of objects) tables.of([...KINDS, Definition].find(({ kind }) => kind === each.kind)!).observe(each);
    if (!isServed) tables.of(Thing).notServed();
    return tables;
  };

  test('makes its kind served', () => {
    const made = forecast({ controllers: [grants], tables: worldOf(false, [wish()]), now: NOW });
    expect(made.writes.map(({ after }) => after?.kind)).toEqual(['CustomResourceDefinition', 'Thing']);
    expect(made.stalled).toEqual([]);
    expect(made.facts.get(Definition, { name: 'things.example.com' })).toMatchObject({
      status: { conditions: [{ type: 'Established', status: 'True' }] },
    });
  });

  test('is deleted with all objects of its kind', () => {
    const tables = worldOf(true, [definition, object(Thing, 'thing')]);
    const intents: Intent[] = [{ kind: Definition, delete: { name: 'things.example.com' } }];
    const made = forecast({ controllers: [], tables, now: NOW, intents });
    expect(made.changes.map(({ do: verb, kind, by }) => [verb, kind.kind, by])).toEqual([
      ['remove', 'CustomResourceDefinition', ['you']],
      ['remove', 'Thing', ['cluster']],
    ]);
    expect(made.facts.served(Thing)).toBe(false);
  });
});

test('a write by a controller that caches only a part of an object keeps the rest', () => {
  const Part = defineTable(Thing, { transform: ({ apiVersion, kind, metadata }) => ({ apiVersion, kind, metadata }) });
  const tables = new Tables([...KINDS, Part]);
  tables.of(Wish).observe(wish());
  for (const kind of [Thing, Part]) tables.of(kind).observe(object(Thing, 'thing', { spec: { a: 1 } }));
  const annotator = controller((view) => {
    const [thing] = view.list(Part);
    return { steps: [annotate(Part, thing!, { mark: 'x' })] };
  });
  const { facts, changes } = forecast({ controllers: [annotator], tables, now: NOW });
  expect(facts.get(Thing, { name: 'thing', namespace: 'team' })).toMatchObject({
    metadata: { annotations: { mark: 'x' } },
    spec: { a: 1 },
  });
  expect(changes.map(({ fields }) => fields)).toEqual([[{ path: 'metadata.annotations.mark', after: 'x' }]]);
});

describe('a change of an existing object', () => {
  const managedFields = [
    { manager: 'offshoot-granter', operation: 'Apply', fieldsV1: { 'f:spec': { 'f:rules': {} } } },
  ];
  const applied = object(Thing, 'thing', { spec: { rules: [{ to: 'a', scope: '*' }] } }, { managedFields });
  const rules = (to: string) => own(Thing, bare(Thing, 'thing', { spec: { rules: [{ to }] } }));
  const changesOfRules = (to: string, answer: object) =>
    forecast({
      controllers: [controller(() => ({ steps: [rules(to)] }))],
      tables: tablesOf([wish(), applied]),
      now: NOW,
      ask: () => ({ ...applied, ...answer }),
    }).changes.map(({ fields }) => fields);

  test('is left out if the server only has another form of the same value', () => {
    expect(changesOfRules('a', {})).toEqual([]);
  });

  test('is as the server returns it, with defaults', () => {
    const spec = { rules: [{ to: 'b', scope: '*' }] };
    expect(changesOfRules('b', { spec })).toEqual([
      [{ path: 'spec.rules', before: [{ to: 'a', scope: '*' }], after: [{ to: 'b', scope: '*' }] }],
    ]);
  });
});

describe('an intent', () => {
  const follower = controller((_view, it) => ({ steps: [own(Thing, bare(Thing, 'thing', { spec: it['spec'] }))] }));

  test('may create an object, and is reported with what follows', () => {
    const intents = [{ kind: Wish, put: bare(Wish, 'wish', { spec: { colour: 'red' } }) }];
    expect(shown(run([follower], [], { intents }))).toEqual(['make Wish wish by you', 'make Thing thing by granter']);
  });

  test('may change an object, and is reported field by field with what follows', () => {
    const before = wish({ spec: { colour: 'red' } });
    const made = run([follower], [before]).changes[0]!.after as AnyObject;
    const intents = [{ kind: Wish, put: { ...before, spec: { colour: 'blue' } } }];
    expect(shown(run([follower], [before, made], { intents }))).toEqual([
      'change Wish wish by you; spec.colour: "red" → "blue"',
      'change Thing thing by granter; spec.colour: "red" → "blue"',
    ]);
  });

  test('makes a controller remove fields that it no longer applies, and keep those of others', () => {
    const before = wish({ spec: { colour: 'red', size: 1 } });
    const made = run([follower], [before]).changes[0]!.after as AnyObject;
    const thing = { ...made, spec: { ...(made['spec'] as object), added: true } };
    const intents = [{ kind: Wish, put: { ...before, spec: { size: 1 } } }];
    expect(shown(run([follower], [before, thing], { intents }))[1]).toBe(
      'change Thing thing by granter; spec.colour: "red" → ',
    );
  });

  test('may delete a namespace with its objects, or an owner with its dependents', () => {
    const owner = { apiVersion: 'example.com/v1', kind: 'Wish', name: 'wish', uid: 'uid-of-wish' };
    const owned = object(Thing, 'owned', {}, { ownerReferences: [owner] });
    const world = [object(Namespace, 'team'), wish(), owned, object(Thing, 'elsewhere', {}, { namespace: 'other' })];
    const ending = run([], world, { intents: [{ kind: Namespace, delete: { name: 'team' } }] });
    expect(shown(ending)).toEqual([
      'remove Wish wish by cluster',
      'remove Thing owned by cluster',
      'remove Namespace team by you, cluster',
    ]);
    const orphaning = run([], world, { intents: [{ kind: Wish, delete: wish().metadata }] });
    expect(shown(orphaning)).toEqual(['remove Wish wish by you', 'remove Thing owned by cluster']);
  });
});

test('a namespace that is deleted and recreated accepts objects again', () => {
  const maker = controller((view) => ({
    steps: view.get(Namespace, { name: 'team' })
      ? [make(Thing, bare(Thing, 'thing'))]
      : [make(Namespace, bare(Namespace, 'team'))],
  }));
  const world = [object(Namespace, 'team'), object(Thing, 'thing'), wish({}, { namespace: 'other' })];
  const renewal = run([maker], world, { intents: [{ kind: Namespace, delete: { name: 'team' } }] });
  expect(renewal.stalled).toEqual([]);
  expect(shown(renewal)).toEqual([
    'replace Namespace team by you, cluster, granter',
    'replace Thing thing by cluster, granter',
  ]);
});

describe('stalled', () => {
  test('reports a plan that throws, with its reason, which is also written to the status', () => {
    const broken = controller(() => {
      throw new Error('no idea');
    });
    const { stalled, changes } = run([broken], [wish()]);
    expect(stalled).toMatchObject([{ controller: 'granter', reason: 'PlanFailed', message: 'no idea' }]);
    expect(changes[0]?.after).toMatchObject({ status: { conditions: [{ type: 'Stalled', message: 'no idea' }] } });
  });

  test('reports a write that the server would refuse, unless the plan handles the refusal', () => {
    const refuse = (): string => 'not here';
    const stubborn = controller(() => ({ steps: [make(Thing, bare(Thing, 'thing'))] }));
    const { stalled, facts } = run([stubborn], [wish()], { refuse });
    expect(stalled).toMatchObject([{ reason: 'ApplyFailed', message: 'make Thing team/thing: not here' }]);
    expect(facts.keys(Thing)).toEqual([]);
    const wise = controller((view) => {
      const said = view.refusal(Thing, { name: 'thing', namespace: 'team' });
      return said === undefined ? { steps: [make(Thing, bare(Thing, 'thing'))] } : { status: { said } };
    });
    const answered = run([wise], [wish()], { refuse });
    expect([answered.stalled, shown(answered)]).toEqual([
      [],
      ['change Wish wish by granter; status:  → {"said":"not here"}'],
    ]);
  });

  test('reports a kind that the cluster does not serve', () => {
    const tables = tablesOf([wish()]);
    tables.of(Thing).notServed();
    const granter = controller(() => ({ steps: [make(Thing, bare(Thing, 'thing'))] }));
    expect(forecast({ controllers: [granter], tables, now: NOW }).stalled[0]?.message).toContain(
      'does not serve Thing',
    );
  });

  test('reports a controller that never settles', () => {
    const restless = controller((_view, it) => {
      const { count = 0 } = (it['spec'] ?? {}) as { count?: number };
      return { steps: [edit(Wish, it, { ...it, spec: { count: count + 1 } } as KubeObject as AnyObject)] };
    });
    expect(run([restless], [wish()]).stalled).toMatchObject([{ reason: 'NoProgress' }]);
  });
});

describe('a report', () => {
  const named = controller((_view, it) => ({
    steps: [make(Thing, bare(Thing, `thing-${it.metadata.uid!.slice(0, 5)}`, { spec: { of: it.metadata.uid } }))],
  }));
  const report = (controllers: readonly ControllerDefinition[], objects: AnyObject[], intents: Intent[] = []) =>
    reportForecast({ controllers, tables: tablesOf(objects), now: NOW, intents }, reportOf);

  test('masks what depends on a uid that the server has not generated yet', () => {
    const { changes } = report([named], [], [{ kind: Wish, put: bare(Wish, 'wish') }]);
    expect(changes.map(({ name }) => name)).toEqual(['wish', 'thing-…']);
    expect(changes[1]?.object).toMatchObject({ spec: { of: '…' } });
  });

  test('shows what does not depend on a uid', () => {
    expect(report([named], [wish()]).changes[0]?.name).toBe('thing-uid-o');
  });

  test('hides the data of Secrets, and requests no token', () => {
    const issuer = controller(() => ({
      steps: [
        token(Secret, bare(Secret, 'key'), {
          serviceAccount: { name: 'deployer', namespace: 'team' },
          expirationSeconds: 60,
          cluster: { server: 'https://api' },
        }),
      ],
    }));
    const { changes } = report([issuer], [wish()]);
    expect(changes[0]?.object).toMatchObject({ kind: 'Secret', data: { kubeconfig: '(hidden)' } });
  });

  test('shows an object that is removed and recreated as replaced', () => {
    const thing = object(Thing, 'thing');
    const renewer = controller((view) => {
      const live = view.get(Thing, thing.metadata);
      return {
        steps: live?.metadata.uid === 'uid-of-thing' ? [remove(Thing, live), make(Thing, bare(Thing, 'thing'))] : [],
      };
    });
    expect(report([renewer], [wish(), thing]).changes.map((each) => each.do)).toEqual(['replace']);
  });
});
