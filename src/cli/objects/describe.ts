// Shows one object as a tree, once or with -w as it changes. For the `describe` commands.
import type { ObjectReader } from '../../api/description/reader.ts';
import { visible } from '../../api/description/reader.ts';
import type { Description } from '../../api/description/tree.ts';
import type { Client } from '../../kube/client/client.ts';
import { keyOf } from '../../kube/objects.ts';
import type { KubeObject } from '../../kube/objects.ts';
import { interruptible } from '../exit.ts';
import { withConnection } from '../options.ts';
import type { ClusterOptions } from '../options.ts';
import { conditionLines } from '../terminal/conditions.ts';
import { painter } from '../terminal/colour.ts';
import { eventLines } from '../terminal/events.ts';
import { nameText, printResult, resultLines } from '../terminal/output.ts';
import type { OutputFormat, Result } from '../terminal/output.ts';
import { redrawOn } from '../terminal/redraw.ts';
import { treeLines } from '../terminal/tree.ts';
import type { Paint } from '../terminal/colour.ts';
import { fetchFor } from './fetch.ts';
import { getByName } from './find.ts';
import type { Noun } from './find.ts';
import { followReads } from './follow-reads.ts';

export interface DescribeOptions extends ClusterOptions {
  readonly output: OutputFormat;
  readonly watch?: boolean;
}

interface Describer<T extends KubeObject, D> {
  readonly describe: (read: ObjectReader, object: T) => D;
  /** The data for -o json and yaml. */
  readonly data: (description: D) => unknown;
  /** The lines of text. */
  readonly lines: (description: D, paint: Paint, now: number, object: T) => readonly string[];
}

/** Prints the tree of an object and its Events. */
export function describeObject<T extends KubeObject, D>(
  noun: Noun<T>,
  name: string,
  options: DescribeOptions,
  { describe, data, lines }: Describer<T, D>,
): Promise<void> {
  return withConnection(options, async ({ client, namespace }) => {
    const object = await getByName(client, noun, { name, namespace });
    const resultOf = (described: T, description: D): Result => ({
      data: data(description),
      names: [nameText(described)],
      lines: (isWide) => [
        ...lines(description, painter(process.stdout), Date.now(), described),
        ...(isWide ? conditionLines(described, painter(process.stdout), Date.now()) : []),
      ],
    });
    if (!options.watch) {
      return printResult(options.output, resultOf(object, await fetchFor(client, (read) => describe(read, object))));
    }
    const wasThere = await showChanges(client, options.output, (read) => {
      const found = visible(read.get(noun.kind, object.metadata));
      return found === undefined ? undefined : resultOf(found, describe(read, found));
    });
    if (wasThere) console.error(`${noun.one} ${keyOf(object.metadata)} was deleted`);
  });
}

/** Prints a result again whenever an object that it was computed from changes, until there is no result. */
export function showChanges(
  client: Client,
  output: OutputFormat,
  compute: (read: ObjectReader) => Result | undefined,
): Promise<boolean> {
  const redrawn = redrawOn(process.stdout);
  return interruptible(async (signal) => {
    await followReads(client, compute, signal, (result) => {
      if (result !== undefined) redrawn.show(() => resultLines(output, result));
      return result === undefined;
    });
    return true;
  }).finally(() => redrawn.end());
}

/** The output of a tree with Events; `key` is the field of the tree in JSON. */
export function treeOutput<T extends KubeObject>(
  key: string,
  use: (object: T) => string | undefined = () => undefined,
): Pick<Describer<T, Description>, 'data' | 'lines'> {
  return {
    data: ({ tree, events }) => ({ [key]: tree, events }),
    lines: (description, paint, now, object) => {
      const hint = use(object);
      return descriptionLines(description, hint === undefined ? [] : ['', `Use  ${hint}`], paint, now);
    },
  };
}

/** A description as lines of text, with further lines between the tree and the Events. */
export function descriptionLines(
  { tree, events }: Description,
  more: readonly string[],
  paint: Paint,
  now: number,
): string[] {
  return [...treeLines(tree, paint), ...more, ...eventLines(events, paint, now)];
}
