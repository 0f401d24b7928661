// A small controller that uses everything: owned objects, an edit of an object that others own, status, finalizer,
// reads of objects that may not exist. A Copy has `count` Notes with the text of its template, and an entry on the
// Board.
import { defineController } from '../../src/controller/index.ts';
import type { Plan, View } from '../../src/controller/index.ts';
import { defineTable } from '../../src/kube/tables/tables.ts';
import { byLabel } from '../../src/kube/tables/object-index.ts';
import { defineKind } from '../../src/kube/objects.ts';
import type { KubeObject } from '../../src/kube/objects.ts';
import { edit, own, remove } from '../../src/kube/write/steps.ts';
import type { Step } from '../../src/kube/write/steps.ts';

export interface Copy extends KubeObject {
  readonly spec: { readonly count: number; readonly template: string; readonly broken?: boolean };
  readonly status?: { readonly notes?: number; readonly conditions?: readonly unknown[] };
}
export interface Template extends KubeObject {
  readonly spec: { readonly text: string };
}
export interface Note extends KubeObject {
  readonly spec: { readonly text: string };
}
export interface Board extends KubeObject {
  readonly spec?: { readonly entries?: readonly string[]; readonly theirs?: string };
}

export const Copy = defineKind<Copy>('test.dev/v1', 'Copy', 'copies');
export const Template = defineKind<Template>('test.dev/v1', 'Template', 'templates');
export const Note = defineKind<Note>('test.dev/v1', 'Note', 'notes');
const Notes = defineTable(Note, { indexes: { copy: byLabel('copy') } });
export const Board = defineKind<Board>('test.dev/v1', 'Board', 'boards');

export const FINALIZER = 'test.dev/copier';

function plan(view: View, copy: Copy): Plan {
  const { name, namespace } = copy.metadata;
  const notes = view.index(Notes, 'copy', `${namespace}.${name}`);
  const board = view.get(Board, { name: 'board', namespace });
  const entries = board?.spec?.entries ?? [];
  if (copy.metadata.deletionTimestamp !== undefined) {
    const steps: Step[] = notes.map((note) => remove(Note, note));
    if (board && entries.includes(name))
      steps.push(
        withEntries(
          board,
          entries.filter((entry) => entry !== name),
        ),
      );
    return { steps, finished: steps.length === 0 };
  }
  if (copy.spec.broken) throw new Error('spec.broken: is true: take it away');
  const template = view.get(Template, { name: copy.spec.template, namespace });
  if (template === undefined) {
    return {
      status: {
        notes: notes.length,
        conditions: [ready(false, 'NoTemplate', `waiting for template ${copy.spec.template}`)],
      },
    };
  }
  const steps: Step[] = [];
  const noteNames = Array.from({ length: copy.spec.count }, (_none, i) => `${name}-${i}`);
  for (const note of noteNames) {
    steps.push(
      own(Note, {
        apiVersion: 'test.dev/v1',
        kind: 'Note',
        metadata: { name: note, namespace, labels: { copy: `${namespace}.${name}` } },
        spec: { text: template.spec.text },
      }),
    );
  }
  for (const note of notes) if (!noteNames.includes(note.metadata.name)) steps.push(remove(Note, note));
  if (board && !entries.includes(name)) steps.push(withEntries(board, [...entries, name].sort()));
  const done = notes.length === noteNames.length && notes.every((note) => note.spec.text === template.spec.text);
  return {
    steps,
    status: { notes: notes.length, conditions: [ready(done, done ? 'Copied' : 'Copying', `${notes.length} notes`)] },
    events: done ? [{ type: 'Normal', reason: 'Copied', note: `${notes.length} notes` }] : [],
  };
}

function ready(is: boolean, reason: string, message: string) {
  return { type: 'Ready', status: is ? ('True' as const) : ('False' as const), reason, message };
}

function withEntries(board: Board, entries: readonly string[]): Step {
  return edit(Board, board, { ...board, spec: { ...board.spec, entries } });
}

export const copier = defineController<Copy>({
  name: 'copier',
  kind: Copy,
  finalizers: [FINALIZER],
  plan,
});

export function copy(name: string, spec: Partial<Copy['spec']> = {}): Copy {
  const object = { apiVersion: 'test.dev/v1', kind: 'Copy', metadata: { name, namespace: 'team' } };
  return { ...object, spec: { count: 2, template: 'text', ...spec } };
}

export function template(name: string, text: string): Template {
  return { apiVersion: 'test.dev/v1', kind: 'Template', metadata: { name, namespace: 'team' }, spec: { text } };
}

/** The board, which others write as well. */
export function board(theirs = 'x'): Board {
  return { apiVersion: 'test.dev/v1', kind: 'Board', metadata: { name: 'board', namespace: 'team' }, spec: { theirs } };
}
