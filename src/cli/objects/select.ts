// Selects objects by name, by file or by labels, for commands that change or delete them.
import { keyOf } from '../../kube/objects.ts';
import type { KubeObject } from '../../kube/objects.ts';
import { failure } from '../exit.ts';
import { readManifests } from '../manifests/read.ts';
import type { Connection } from '../options.ts';
import { findByName, getByName, listOfKind } from './find.ts';
import type { Noun } from './find.ts';

export interface SelectOptions {
  readonly filename?: readonly string[];
  readonly selector?: string;
  /** Skip named objects that do not exist. */
  readonly ignoreNotFound?: boolean;
}

/** The selected objects. Without `ignoreNotFound`, all named objects must exist. */
export async function selectObjects<T extends KubeObject>(
  noun: Noun<T>,
  names: readonly string[],
  options: SelectOptions,
  { client, namespace }: Connection,
  verb: string,
): Promise<readonly T[]> {
  const ways = [names.length > 0, options.filename !== undefined, options.selector !== undefined];
  if (!ways.includes(true)) {
    throw failure('MissingArgument', `NAME is missing: name the ${noun.many} to ${verb}, or give -f FILE or -l LABELS`);
  }
  if (ways.filter(Boolean).length > 1) {
    throw failure('ConflictingFlags', `say what to ${verb} in one way: by NAME, by -f FILE or by -l LABELS`);
  }
  if (options.selector !== undefined) {
    const found = await listOfKind(client, noun, { namespace, labelSelector: options.selector });
    if (found.length === 0) console.error(`No ${noun.many} found in namespace ${namespace}.`);
    return found;
  }
  const refs =
    options.filename === undefined
      ? names.map((name) => ({ name, namespace }))
      : readManifests(options.filename)
          .filter(({ object }) => object.kind === noun.kind.kind)
          .map(({ object: { metadata } }) => ({ name: metadata.name, namespace: metadata.namespace ?? namespace }));
  const unique = new Map(refs.map((ref) => [keyOf(ref), ref]));
  if (unique.size === 0) console.error(`No ${noun.many} found in ${options.filename?.join(', ') ?? ''}.`);
  const get = options.ignoreNotFound ? findByName : getByName;
  const found = await Promise.all([...unique.values()].map((ref) => get(client, noun, ref)));
  return found.filter((each) => each !== undefined);
}
