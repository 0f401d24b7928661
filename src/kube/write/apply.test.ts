import { describe, expect, test } from 'vitest';
import { FakeApi } from '../../../test/support/fake-api.ts';
import { Applier, PlanOutdated, StepFailed, WriteForbidden } from './apply.ts';
import { ApiError } from '../errors.ts';
import { defineKind } from '../objects.ts';
import type { KubeObject } from '../objects.ts';
import { edit, editStatus, own, remove } from './steps.ts';
import type { Step } from './steps.ts';
import { defineTable, Tables } from '../tables/tables.ts';

interface Thing extends KubeObject {
  readonly spec?: { readonly size?: number; readonly cpu?: string; readonly list?: readonly number[] };
  readonly status?: { readonly seen?: number };
}
const Thing = defineKind<Thing>('test.dev/v1', 'Thing', 'things');
const REF = { name: 'a', namespace: 'n' };

function thing(spec: Thing['spec'], metadata: Partial<Thing['metadata']> = {}): Thing {
  return { apiVersion: 'test.dev/v1', kind: 'Thing', metadata: { ...REF, ...metadata }, spec };
}

/** A writer, the API that it writes to, and tables that only its own writes reach. */
function make(options: Partial<ConstructorParameters<typeof Applier>[0]> = {}) {
  const api = new FakeApi();
  const tables = new Tables([Thing]);
  const applier = new Applier({ client: api, tables, manager: 'offshoot-test', ...options });
  return { api, tables, applier, live: () => tables.of(Thing).get('n/a')! };
}

/** An object that somebody else created and that we have observed. */
async function foreign(
  w: ReturnType<typeof make>,
  spec: Thing['spec'],
  metadata?: Partial<Thing['metadata']>,
): Promise<Thing> {
  const object = await w.api.create(Thing, thing(spec, metadata));
  w.tables.of(Thing).observe(object);
  return w.live();
}

const did = (outcomes: readonly { did: string }[]): string[] => outcomes.map((outcome) => outcome.did);

describe('own', () => {
  test('creates, changes, removes fields that are no longer desired, and then does nothing', async () => {
    const { api, applier } = make();
    expect(did(await applier.apply([own(Thing, thing({ size: 1, cpu: '1' }))]))).toEqual(['created']);
    expect(did(await applier.apply([own(Thing, thing({ size: 2, cpu: '1' }))]))).toEqual(['changed']);
    expect(did(await applier.apply([own(Thing, thing({ size: 2 }))]))).toEqual(['changed']);
    expect(api.all(Thing).get('n/a')!['spec']).toEqual({ size: 2 });
    let requests = 0;
    api.intercept = () => void requests++;
    expect(did(await applier.apply([own(Thing, thing({ size: 2 }))]))).toEqual(['nothing']);
    expect(requests).toBe(0);
  });

  test('asks for a new plan if the object exists unobserved, or if the server has another conflict', async () => {
    const w = make();
    // The version 1, which the first object has here, is that of an empty store in a cluster.
    await w.api.create(Thing, thing({}, { name: 'first' }));
    await w.api.create(Thing, thing({ size: 5 }));
    await expect(w.applier.apply([own(Thing, thing({ size: 1 }))])).rejects.toThrow(PlanOutdated);
    expect(w.live().spec).toEqual({ size: 5 });
    w.api.intercept = ({ verb }) => {
      if (verb === 'apply') throw new ApiError('the quota has been modified', { code: 409, reason: 'Conflict' });
    };
    await expect(w.applier.apply([own(Thing, thing({ size: 1 }, { name: 'b' }))])).rejects.toThrow(PlanOutdated);
    expect([...w.api.all(Thing).keys()]).toEqual(['n/first', 'n/a']);
  });

  test('changes an object that exists if no table would ever hold it', async () => {
    const w = make({ tables: new Tables([defineTable(Thing, { labelSelector: 'mine=yes' })]) });
    await w.api.create(Thing, thing({}, { name: 'first' }));
    await w.api.create(Thing, thing({ size: 5 }));
    await w.applier.apply([own(Thing, thing({ size: 1 }))]);
    expect(w.api.all(Thing).get('n/a')!['spec']).toEqual({ size: 1 });
  });

  test('stores what it wrote in the table at once', async () => {
    const { applier, live } = make();
    await applier.apply([own(Thing, thing({ size: 1 }))]);
    expect(live().spec).toEqual({ size: 1 });
  });

  test('leaves the fields of others alone, and does not write because of them', async () => {
    const w = make();
    await w.applier.apply([own(Thing, thing({ size: 1 }))]);
    const changed = await w.api.patch(Thing, REF, { type: 'merge', body: { spec: { cpu: '2' } } });
    w.tables.of(Thing).observe(changed);
    expect(did(await w.applier.apply([own(Thing, thing({ size: 1 }))]))).toEqual(['nothing']);
    expect(w.live().spec).toEqual({ size: 1, cpu: '2' });
  });

  test('does not overwrite the form that the server gives to a value', async () => {
    const w = make();
    // This server keeps 1000m as 1, as the real one does with quantities.
    const patch = w.api.patch.bind(w.api);
    let sent = 0;
    w.api.patch = async (kind, ref, body, options) => {
      sent++;
      const answer = await patch(kind, ref, body, options);
      const spec = { ...(answer as unknown as Thing).spec, cpu: '1' };
      return { ...answer, spec };
    };
    await w.applier.apply([own(Thing, thing({ cpu: '1000m' }))]);
    await w.applier.apply([own(Thing, thing({ cpu: '1000m' }))]);
    expect(sent).toBe(1);
    await w.applier.apply([own(Thing, thing({ cpu: '2000m' }))]);
    expect(sent).toBe(2);
  });

  test('keeps the forms of objects with the same name in different groups apart', async () => {
    const Other = defineKind<Thing>('other.dev/v1', 'Thing', 'things');
    const w = make({ tables: new Tables([Thing, Other]) });
    const patch = w.api.patch.bind(w.api);
    let sent = 0;
    w.api.patch = async (kind, ref, body, options) => {
      sent++;
      const answer = await patch(kind, ref, body, options);
      return kind.group === 'other.dev' ? answer : { ...answer, spec: { cpu: '1' } };
    };
    const steps = [Thing, Other].map((kind) => own(kind, thing({ cpu: '1000m' })));
    await w.applier.apply(steps);
    await w.applier.apply(steps);
    expect(sent).toBe(2);
  });
});

describe('edit', () => {
  test('sends only what differs, and nothing when nothing does', async () => {
    const w = make();
    const from = await foreign(w, { size: 1, list: [1] });
    const bodies: unknown[] = [];
    const patch = w.api.patch.bind(w.api);
    w.api.patch = (kind, ref, body, options) => {
      bodies.push(body.body);
      return patch(kind, ref, body, options);
    };
    expect(did(await w.applier.apply([edit(Thing, from, { ...from, spec: { ...from.spec } })]))).toEqual(['nothing']);
    expect(did(await w.applier.apply([edit(Thing, from, { ...from, spec: { size: 1, list: [1, 2] } })]))).toEqual([
      'changed',
    ]);
    expect(bodies).toEqual([{ spec: { list: [1, 2] }, metadata: { resourceVersion: from.metadata.resourceVersion } }]);
  });

  test('is rejected when somebody else changed the object first, and their change is kept', async () => {
    const w = make();
    const from = await foreign(w, { size: 1 });
    await w.api.patch(Thing, REF, { type: 'merge', body: { spec: { cpu: '1' } } });
    await expect(w.applier.apply([edit(Thing, from, { ...from, spec: { size: 2 } })])).rejects.toThrow(PlanOutdated);
    expect(w.api.all(Thing).get('n/a')!['spec']).toEqual({ size: 1, cpu: '1' });
  });

  test('of a deleted object asks for a new plan, and removes it from the table', async () => {
    const w = make();
    const from = await foreign(w, { size: 1 });
    await w.api.delete(Thing, REF);
    await expect(w.applier.apply([edit(Thing, from, { ...from, spec: { size: 2 } })])).rejects.toThrow(PlanOutdated);
    expect(w.live()).toBeUndefined();
  });

  test('of a status changes nothing else', async () => {
    const w = make();
    const from = await foreign(w, { size: 1 });
    expect(did(await w.applier.apply([editStatus(Thing, from, { seen: 1 })]))).toEqual(['changed']);
    expect(did(await w.applier.apply([editStatus(Thing, w.live(), { seen: 1 })]))).toEqual(['nothing']);
    expect(w.live()).toMatchObject({ spec: { size: 1 }, status: { seen: 1 }, metadata: { generation: 1 } });
  });
});

describe('remove', () => {
  test('deletes the observed object, and removes it from the table at once', async () => {
    const w = make();
    const object = await foreign(w, {});
    expect(did(await w.applier.apply([remove(Thing, object)]))).toEqual(['removed']);
    expect(w.api.all(Thing).size).toBe(0);
    expect(w.live()).toBeUndefined();
    expect(did(await w.applier.apply([remove(Thing, object)]))).toEqual(['nothing']);
  });

  test('does not delete another object of the same name', async () => {
    const w = make();
    const object = await foreign(w, {});
    await w.api.delete(Thing, REF);
    await w.api.create(Thing, thing({ size: 9 }));
    await expect(w.applier.apply([remove(Thing, object)])).rejects.toThrow(PlanOutdated);
    expect(w.api.all(Thing).size).toBe(1);
  });

  test('sends one delete and then waits for the finalizers of others', async () => {
    const w = make();
    const object = await foreign(w, {}, { finalizers: ['theirs'] });
    expect(did(await w.applier.apply([remove(Thing, object)]))).toEqual(['removed']);
    expect(w.live().metadata.deletionTimestamp).toBeDefined();
    expect(did(await w.applier.apply([remove(Thing, w.live())]))).toEqual(['nothing']);
  });
});

describe('apply', () => {
  test('keeps the order and stops at the first failure, which names the step', async () => {
    const w = make();
    w.api.intercept = ({ key }) => {
      if (key === 'n/b') throw new ApiError('things "b" is forbidden', { code: 403, reason: 'Forbidden' });
    };
    const steps = ['a', 'b', 'c'].map((name) => own(Thing, thing({ size: 1 }, { name })));
    const failure = await w.applier.apply(steps).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(StepFailed);
    expect((failure as StepFailed).message).toBe('own Thing n/b: things "b" is forbidden');
    expect((failure as StepFailed).step).toBe(steps[1]);
    expect([...w.api.all(Thing).keys()]).toEqual(['n/a']);
  });

  test('reports in a dry run what it would do, and changes nothing on the server or in the tables', async () => {
    const w = make();
    const from = await foreign(w, { size: 1 });
    const steps = [
      own(Thing, thing({ size: 3 }, { name: 'b' })),
      edit(Thing, from, { ...from, spec: { size: 2 } }),
      remove(Thing, from),
    ];
    const before = w.api.state();
    expect(did(await w.applier.apply(steps, { dryRun: true }))).toEqual(['created', 'changed', 'removed']);
    expect(w.api.state()).toEqual(before);
    expect(w.live()).toBe(from);
    expect(w.applier.writes).toBe(0);
  });

  describe('a 404 for an object', () => {
    const notFound = (verbs: readonly string[]) => (request: { verb: string }) => {
      if (verbs.includes(request.verb)) throw new ApiError('404 page not found', { code: 404, reason: 'NotFound' });
    };
    const steps = (from: Thing): [string, Step][] => [
      ['patch', edit(Thing, from, { ...from, spec: { size: 2 } })],
      ['patch', editStatus(Thing, from, { seen: 1 })],
      ['delete', remove(Thing, from)],
    ];

    test.each([0, 1, 2])('is not believed while a list contains the object (%i)', async (index) => {
      const w = make();
      const [verb, step] = steps(await foreign(w, { size: 1 }))[index]!;
      w.api.intercept = notFound([verb]);
      await expect(w.applier.apply([step])).rejects.toThrow(StepFailed);
      expect(w.live().spec).toEqual({ size: 1 });
    });

    test.each([0, 1, 2])('is not believed while lists fail (%i)', async (index) => {
      const w = make();
      const [verb, step] = steps(await foreign(w, { size: 1 }))[index]!;
      w.api.intercept = notFound([verb, 'list']);
      await expect(w.applier.apply([step])).rejects.toThrow(StepFailed);
      expect(w.live().spec).toEqual({ size: 1 });
    });

    test.each([
      [0, 'planned again'],
      [1, 'planned again'],
      [2, 'nothing'],
    ])('is believed when the object is gone, or another has its name (%i: %s)', async (index, outcome) => {
      const w = make();
      const [, step] = steps(await foreign(w, { size: 1 }))[index]!;
      await w.api.delete(Thing, REF);
      const apply = (): Promise<string> =>
        w.applier.apply([step]).then(
          ([done]) => done!.did,
          (error: unknown) => (error instanceof PlanOutdated ? 'planned again' : String(error)),
        );
      expect([await apply(), w.live()]).toEqual([outcome, undefined]);
      await w.api.create(Thing, thing({ size: 3 }));
      w.api.intercept = notFound(['patch', 'delete']);
      expect([await apply(), w.live().spec]).toEqual([outcome, { size: 3 }]);
    });
  });

  test('writes nothing once another process leads', async () => {
    let leads = true;
    const w = make({ mayWrite: () => leads });
    await w.applier.apply([own(Thing, thing({ size: 1 }))]);
    leads = false;
    await expect(w.applier.apply([own(Thing, thing({ size: 2 }))])).rejects.toThrow(WriteForbidden);
    expect(w.api.all(Thing).get('n/a')!['spec']).toEqual({ size: 1 });
    await expect(w.applier.apply([own(Thing, thing({ size: 1 }))])).resolves.toHaveLength(1);
  });

  test.each([
    own(Thing, thing({ size: 2 })),
    { do: 'make', kind: Thing, object: thing({ size: 2 }, { name: 'b' }) },
    edit(Thing, thing({ size: 1 }), thing({ size: 2 })),
    remove(Thing, thing({ size: 1 })),
  ] satisfies Step[])(
    'does not send a write that waited for its turn when another process leads: $do',
    async (step) => {
      let leads = true;
      const w = make({ mayWrite: () => leads });
      await w.applier.apply([own(Thing, thing({ size: 1 }))]);
      const before = w.api.state();
      w.api.intercept = () => {
        leads = false;
      };
      await expect(w.applier.apply([step])).rejects.toThrow(WriteForbidden);
      expect(w.api.state()).toEqual(before);
    },
  );

  test('counts acknowledged writes, so that a test can end the process after the n-th', async () => {
    const counts: number[] = [];
    const w = make({ onWrite: (count) => counts.push(count) });
    await w.applier.apply([
      own(Thing, thing({ size: 1 })),
      own(Thing, thing({ size: 1 })),
      own(Thing, thing({ size: 2 })),
    ]);
    expect(counts).toEqual([1, 2]);
  });

  test('stops before the next step when it is aborted', async () => {
    const abort = new AbortController();
    const w = make({ onWrite: () => abort.abort(new Error('stopping')) });
    const steps = [own(Thing, thing({ size: 1 })), own(Thing, thing({ size: 1 }, { name: 'b' }))];
    await expect(w.applier.apply(steps, { signal: abort.signal })).rejects.toThrow('stopping');
    expect([...w.api.all(Thing).keys()]).toEqual(['n/a']);
  });
});
