// Reads and checks the objects of `-f`; errors name line and column, and need no cluster. For commands that take
// manifests.
import { apiVersionOf } from '../../kube/objects.ts';
import type { AnyKind, KubeObject } from '../../kube/objects.ts';
import { failure, invalidFile } from '../exit.ts';
import type { ClusterOptions } from '../options.ts';
import { checkManifests } from './check.ts';
import type { Check } from './check.ts';
import { filesOf, parseManifests } from './read.ts';
import type { Manifest } from './read.ts';

/** The kinds that a command accepts, and their name in messages. */
export interface Accepted {
  readonly checks: readonly Check[];
  /** `an environment` */
  readonly one: string;
}

/** An object with its kind. */
export interface TypedObject {
  readonly kind: AnyKind;
  readonly object: KubeObject;
}

/** The objects of files, with their namespaces set. Kinds that the command does not accept are rejected. */
export function checkedObjects(
  filenames: readonly string[],
  options: ClusterOptions,
  namespace: string,
  accepted: Accepted,
): readonly TypedObject[] {
  const files = filenames.flatMap(filesOf);
  const objects = files
    .flatMap(([source, text]) => parseManifests(source, text))
    .map((manifest) => typed(manifest, options, namespace, accepted));
  if (objects.length === 0) throw failure('InvalidFile', `-f ${filenames.join(', ')}: it contains no objects`);
  const { findings } = checkManifests(files, namespace, accepted.checks);
  const linesOf = (isWarning: true | undefined): string[] =>
    findings
      .filter((finding) => finding.isWarning === isWarning)
      .map(({ source, line, column, message }) => `${source}:${line}:${column}: ${message}`);
  for (const line of linesOf(true)) console.error(`Warning: -f ${line}`);
  const refused = linesOf(undefined);
  if (refused.length === 0) return objects;
  throw failure('InvalidFile', refused.length === 1 ? `-f ${refused[0]}` : ['-f:', ...refused].join('\n  '));
}

function typed(
  { where, object }: Manifest,
  options: ClusterOptions,
  namespace: string,
  { checks, one }: Accepted,
): TypedObject {
  const isOf = ({ kind, group }: AnyKind): boolean => kind === object.kind && object.apiVersion.startsWith(`${group}/`);
  const kind = checks.map(({ resource }): AnyKind => resource.kind).find(isOf);
  if (kind === undefined) {
    throw failure(
      'InvalidFile',
      `-f ${where(['kind'])}: ${object.apiVersion} ${object.kind} is not ${one}; use kubectl apply for it`,
    );
  }
  // All served versions of our kinds have the same schema.
  const current = { ...object, apiVersion: apiVersionOf(kind) };
  if (!kind.namespaced) return { kind, object: current };
  const own = object.metadata.namespace;
  if (own !== undefined && options.namespace !== undefined && own !== options.namespace) {
    throw invalidFile(
      where(['metadata', 'namespace']),
      `metadata.namespace is "${own}" and --namespace is "${options.namespace}"; leave one out`,
    );
  }
  return { kind, object: { ...current, metadata: { ...object.metadata, namespace: own ?? namespace } } };
}
