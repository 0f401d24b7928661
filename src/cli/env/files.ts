// The environments that `-f` names, refused with line and column before a cluster is asked. Called by create and plan.
import type { DynamicEnv } from '../../api/dynamicenv.ts';
import type { KubeObject } from '../../kube/objects.ts';
import { checkManifests } from '../manifests/check.ts';
import { environmentCheck } from './check.ts';
import { failure } from '../exit.ts';
import { filesOf, parseManifests } from '../manifests/read.ts';
import type { Manifest } from '../manifests/read.ts';
import type { ClusterOptions } from '../options.ts';

/** The environments of files. Anything else in them is refused. */
export function environmentsIn(
  filenames: readonly string[],
  options: ClusterOptions,
  namespace: string,
): readonly DynamicEnv[] {
  const files = filenames.flatMap(filesOf);
  const environments = files
    .flatMap(([source, text]) => parseManifests(source, text))
    .map((manifest) => environmentOf(manifest, options, namespace));
  if (environments.length === 0) throw failure(`-f ${filenames.join(', ')}: there is no object in it`);
  const { findings } = checkManifests(files, namespace, [environmentCheck]);
  const linesOf = (isWarning: true | undefined): string[] =>
    findings
      .filter((finding) => finding.isWarning === isWarning)
      .map(({ source, line, column, message }) => `${source}:${line}:${column}: ${message}`);
  for (const line of linesOf(true)) console.error(`Warning: -f ${line}`);
  const refused = linesOf(undefined);
  if (refused.length === 0) return environments;
  throw failure(refused.length === 1 ? `-f ${refused[0]}` : ['-f:', ...refused].join('\n  '));
}

/** The environment of a manifest, with the namespace that it shall go to. */
function environmentOf({ where, object }: Manifest, options: ClusterOptions, namespace: string): DynamicEnv {
  if (object.kind !== 'DynamicEnv' || !object.apiVersion.startsWith('riskified.com/')) {
    throw failure(
      `-f ${where(['kind'])}: ${object.apiVersion} ${object.kind} is not an environment; use kubectl apply for it`,
    );
  }
  const own = object.metadata.namespace;
  if (own !== undefined && options.namespace !== undefined && own !== options.namespace) {
    throw failure(
      `-f ${where(['metadata', 'namespace'])}: metadata.namespace is "${own}" and --namespace is "${options.namespace}"; leave one out`,
    );
  }
  return { ...object, metadata: { ...object.metadata, namespace: own ?? namespace } } as KubeObject as DynamicEnv;
}
