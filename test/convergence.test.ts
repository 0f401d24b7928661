// What must hold for every controller: it converges to the same state whatever the order of events, with repeated
// events, and when the process crashes after any write; and then it writes nothing.
import { setImmediate } from 'node:timers/promises';
import * as fc from 'fast-check';
import { afterEach, expect, test } from 'vitest';
import { createLogger, Manager } from '../src/controller/index.ts';
import type { Client } from '../src/kube/client/client.ts';
import type { AnyKind } from '../src/kube/objects.ts';
import { board, Board, copier, copy, Copy, Note, template, Template } from './support/copier.ts';
import { crashingClient } from './support/crashing-client.ts';
import { FakeApi } from './support/fake-api.ts';
import { until } from './support/until.ts';

const managers: Manager[] = [];
afterEach(async () => {
  await Promise.all(managers.splice(0).map((manager) => manager.stop()));
});

/** What a user may do to the cluster. */
type Action =
  | { readonly do: 'template'; readonly text: string }
  | { readonly do: 'board'; readonly theirs: string }
  | { readonly do: 'copy'; readonly name: string; readonly count: number }
  | { readonly do: 'delete'; readonly name: string }
  | { readonly do: 'meddle'; readonly note: string };

const name = fc.constantFrom('a', 'b');
const action: fc.Arbitrary<Action> = fc.oneof(
  fc.record({ do: fc.constant('template' as const), text: fc.constantFrom('one', 'two') }),
  fc.record({ do: fc.constant('board' as const), theirs: fc.constantFrom('x', 'y') }),
  fc.record({ do: fc.constant('copy' as const), name, count: fc.integer({ min: 0, max: 3 }) }),
  fc.record({ do: fc.constant('delete' as const), name }),
  fc.record({ do: fc.constant('meddle' as const), note: fc.constantFrom('a-0', 'b-0') }),
);

/** A typical sequence: objects are created, changed and deleted. */
const typical: readonly Action[] = [
  { do: 'template', text: 'one' },
  { do: 'board', theirs: 'x' },
  { do: 'copy', name: 'a', count: 2 },
  { do: 'copy', name: 'b', count: 1 },
  { do: 'template', text: 'two' },
  { do: 'copy', name: 'a', count: 1 },
  { do: 'delete', name: 'b' },
];

const inTeam = (of: string): { name: string; namespace: string } => ({ name: of, namespace: 'team' });

/** Creates the object, or changes its spec if it exists. Ignores errors of deletes and edits. */
async function act(api: FakeApi, step: Action): Promise<void> {
  const put = async (kind: AnyKind, object: Parameters<FakeApi['create']>[1]): Promise<void> => {
    const body = { spec: (object as unknown as { spec: unknown }).spec };
    if (api.all(kind).has(`team/${object.metadata.name}`))
      await api.patch(kind, object.metadata, { type: 'merge', body });
    else await api.create(kind, object);
  };
  if (step.do === 'template') await put(Template, template('text', step.text));
  else if (step.do === 'board') await put(Board, board(step.theirs));
  else if (step.do === 'copy') await put(Copy, copy(step.name, { count: step.count }));
  else if (step.do === 'delete') await api.delete(Copy, inTeam(step.name)).catch(() => {});
  else await api.patch(Note, inTeam(step.note), { type: 'merge', body: { spec: { text: 'meddled' } } }).catch(() => {});
}

/** Delays watch events by a random number of turns, in order within a kind, and repeats some of them. */
function disorder(api: FakeApi, random: () => number): () => boolean {
  const chains = new Map<string, Promise<void>>();
  let pending = 0;
  api.deliver = (kind, send) => {
    pending++;
    const before = chains.get(kind) ?? Promise.resolve();
    chains.set(
      kind,
      (async () => {
        await before;
        for (let turns = Math.floor(random() * 4); turns > 0; turns--) await setImmediate();
        send();
        if (random() < 0.3) send();
        pending--;
      })(),
    );
  };
  return () => pending === 0;
}

async function start(client: Client, onWrite?: (count: number) => void): Promise<Manager> {
  const logger = createLogger({ level: 'silent' });
  const manager = new Manager({ client, controllers: [copier], logger, ...(onWrite && { onWrite }) });
  managers.push(manager);
  await manager.start();
  return manager;
}

async function quiet(manager: Manager, delivered: () => boolean = () => true): Promise<void> {
  let turns = 0;
  await until(() => (turns = manager.idle && delivered() ? turns + 1 : 0) >= 8);
}

/** The state without Events, which depend on timing. */
function endState(api: FakeApi): Record<string, unknown> {
  return Object.fromEntries(Object.entries(api.state()).filter(([key]) => !key.startsWith('events')));
}

/** The expected end state, computed from the actions alone. */
function expected(actions: readonly Action[]): { notes: Record<string, string>; entries: string[] | undefined } {
  let text: string | undefined;
  let onBoard = false;
  const copies = new Map<string, number>();
  for (const step of actions) {
    if (step.do === 'template') text = step.text;
    else if (step.do === 'board') onBoard = true;
    else if (step.do === 'copy') copies.set(step.name, step.count);
    else if (step.do === 'delete') copies.delete(step.name);
  }
  const notes: Record<string, string> = {};
  if (text !== undefined) {
    for (const [of, count] of copies) for (let i = 0; i < count; i++) notes[`team/${of}-${i}`] = text;
  }
  return { notes, entries: onBoard && text !== undefined && copies.size > 0 ? [...copies.keys()].sort() : undefined };
}

function notesOf(api: FakeApi): Record<string, string> {
  return Object.fromEntries([...api.all(Note)].map(([key, note]) => [key, (note['spec'] as { text: string }).text]));
}

test('converges to the desired state with delayed and repeated events, and then writes nothing', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(action, { maxLength: 12 }).map((some) => [...typical.slice(0, 3), ...some]),
      fc.infiniteStream(fc.double({ min: 0, max: 0.999, noNaN: true })),
      async (actions, stream) => {
        const random = (): number => stream.next().value as number;
        const api = new FakeApi();
        const delivered = disorder(api, random);
        const manager = await start(api);
        for (const step of actions) {
          // Waits for deletions: an object with the same name would be another one meanwhile.
          if (step.do === 'copy' || step.do === 'delete') await quiet(manager, delivered);
          await act(api, step);
          if (random() < 0.4) await setImmediate();
        }
        await quiet(manager, delivered);
        const want = expected(actions);
        expect(notesOf(api)).toEqual(want.notes);
        const entries =
          (api.all(Board).get('team/board')?.['spec'] as { entries?: string[] } | undefined)?.entries ?? [];
        expect([...entries].sort()).toEqual(want.entries ?? []);

        for (const [key, each] of api.all(Copy))
          expect(each['status'], key).toMatchObject({ conditions: [{ status: 'True' }] });
        await manager.stop();
        const writes = api.writes.length;
        await quiet(await start(api), delivered);
        expect(api.writes.slice(writes)).toEqual([]);
      },
    ),
    { numRuns: 60 },
  );
});

test('converges to the same state when the process crashes after any write', async () => {
  const reference = new FakeApi();
  for (const step of typical.slice(0, -1)) await act(reference, step);
  const first = await start(reference);
  await quiet(first);
  await act(reference, typical.at(-1)!);
  await quiet(first);
  const expectedState = endState(reference);
  const total = reference.writes.length - (typical.length - 1);
  expect(total).toBeGreaterThan(8);

  for (let crashAfter = 1; crashAfter <= total; crashAfter++) {
    const api = new FakeApi();
    for (const step of typical.slice(0, -1)) await act(api, step);
    // The second process makes one more write than the first: a crash in the middle of recovery.
    for (const writesLeft of [crashAfter, crashAfter + 1]) {
      const crashing = new Manager({
        client: crashingClient(api, { writesLeft }),
        controllers: [copier],
        logger: createLogger({ level: 'silent' }),
      });
      await crashing.start();
      for (let turns = 0; turns < 60; turns++) await setImmediate();
    }
    const last = await start(api);
    await quiet(last);
    await act(api, typical.at(-1)!);
    await quiet(last);
    expect(endState(api), `after ${crashAfter} writes`).toEqual(expectedState);
    await last.stop();
    managers.length = 0;
  }
});
