// Everything about one object, as a tree. The `describe` commands differ in how they tell of it.
import type { ObjectReader } from '../../api/description/reader.ts';
import type { Description } from '../../api/description/tree.ts';
import type { KubeObject } from '../../kube/objects.ts';
import { withConnection } from '../options.ts';
import type { ClusterOptions } from '../options.ts';
import { painter } from '../terminal/colour.ts';
import { eventLines } from '../terminal/events.ts';
import { dataText } from '../terminal/output.ts';
import { treeLines } from '../terminal/tree.ts';
import type { Paint } from '../terminal/colour.ts';
import { fetchFor } from './fetch.ts';
import { getByName } from './find.ts';
import type { Noun } from './find.ts';

export interface DescribeOptions extends ClusterOptions {
  readonly output?: 'json' | 'yaml';
}

interface Describing<T extends KubeObject> {
  readonly describe: (read: ObjectReader, object: T) => Description;
  /** What programs find the tree under. */
  readonly key: string;
  /** What people can do with it. */
  readonly use?: (object: T) => string | undefined;
}

/** Prints the tree of an object and what happened to it. */
export function describeObject<T extends KubeObject>(
  noun: Noun<T>,
  name: string,
  options: DescribeOptions,
  { describe, key, use }: Describing<T>,
): Promise<void> {
  return withConnection(options, async ({ client, namespace }) => {
    const object = await getByName(client, noun, { name, namespace });
    const description = await fetchFor(client, (read) => describe(read, object));
    const { output } = options;
    if (output !== undefined) {
      return void process.stdout.write(dataText(output, { [key]: description.tree, events: description.events }));
    }
    const hint = use?.(object);
    const more = hint === undefined ? [] : ['', `Use  ${hint}`];
    console.log(descriptionLines(description, more, painter(process.stdout), Date.now()).join('\n'));
  });
}

/** A description as lines of text, with what else is to be said between the tree and the events. */
export function descriptionLines(
  { tree, events }: Description,
  more: readonly string[],
  paint: Paint,
  now: number,
): string[] {
  return [...treeLines(tree, paint), ...more, ...eventLines(events, paint, now)];
}
