// The environments that a command is about: chosen by name, by file or by labels. Called by what changes or deletes them.
import type { DynamicEnv } from '../../api/dynamicenv.ts';
import { keyOf } from '../../kube/objects.ts';
import { failure } from '../exit.ts';
import { readManifests } from '../manifests/read.ts';
import { listOfKind } from '../objects/find.ts';
import type { Connection } from '../options.ts';
import { ENVIRONMENT, getEnvironment } from './get.ts';

export interface SelectOptions {
  readonly filename?: readonly string[];
  readonly selector?: string;
}

/** The environments to do something to. All that are named must exist before anything is done to any. */
export async function selectEnvironments(
  names: readonly string[],
  options: SelectOptions,
  { client, namespace }: Connection,
  verb: string,
): Promise<readonly DynamicEnv[]> {
  const ways = [names.length > 0, options.filename !== undefined, options.selector !== undefined];
  if (ways.filter(Boolean).length !== 1) {
    throw failure('ConflictingFlags', `say what to ${verb} in one way: by NAME, by -f FILE or by -l LABELS`);
  }
  if (options.selector !== undefined) {
    return listOfKind(client, ENVIRONMENT, { namespace, labelSelector: options.selector });
  }
  const refs =
    options.filename === undefined
      ? names.map((name) => ({ name, namespace }))
      : readManifests(options.filename)
          .filter(({ object }) => object.kind === 'DynamicEnv')
          .map(({ object: { metadata } }) => ({ name: metadata.name, namespace: metadata.namespace ?? namespace }));
  const unique = new Map(refs.map((ref) => [keyOf(ref), ref]));
  return Promise.all([...unique.values()].map((ref) => getEnvironment(client, ref)));
}

/** Says that there is nothing to do anything to. */
export function noneFound({ namespace }: Connection): void {
  console.error(`No environments found in namespace ${namespace}.`);
}
