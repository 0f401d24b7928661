// Completes names from the cluster. Errors and timeouts yield no suggestions: a shell can't show a reason.
import type { DynamicEnv } from '../../api/dynamicenv.ts';
import { baseProblem, Deployment } from '../../environments/index.ts';
import { readKubeconfig } from '../../kube/client/config/kubeconfig.ts';
import { defineKind } from '../../kube/objects.ts';
import type { Kind, KubeObject } from '../../kube/objects.ts';
import { RoutingRule } from '../../api/routing.ts';
import { CLAIM, CLASS, TARGET } from '../claim/nouns.ts';
import { ENVIRONMENT } from '../env/get.ts';
import { ERRORS } from '../errors/catalogue.ts';
import { kubeconfigSource } from '../kubeconfig/source.ts';
import { withConnection } from '../options.ts';
import type { ClusterOptions, Connection } from '../options.ts';
import { imageSuggestions } from './images.ts';
import type { Container } from './images.ts';
import type { Live, Suggestion } from './suggest.ts';

/** The longest that completion blocks the shell if the cluster does not answer. */
const TIMEOUT_MS = 1_500;

const Namespace = defineKind('v1', 'Namespace', 'namespaces', { namespaced: false });

const KINDS = {
  environments: ENVIRONMENT.kind,
  claims: CLAIM.kind,
  targets: TARGET.kind,
  classes: CLASS.kind,
  rules: RoutingRule,
  namespaces: Namespace,
} as const;

/** Suggestions for a value; none if the cluster does not answer. */
export async function liveSuggestions(
  live: Live,
  value: string,
  given: readonly string[],
  options: ClusterOptions,
): Promise<readonly Suggestion[]> {
  try {
    if (live === 'codes') return Object.keys(ERRORS).map(named);
    if (live === 'contexts') return [...readKubeconfig(kubeconfigSource(options)).contexts.keys()].map(named);
    return await withConnection(options, async (connection) => {
      if (live === 'images') return imageSuggestions(value, await bases(connection, value));
      if (live === 'overrides') return imageSuggestions(value, await overrides(connection, given[0] ?? ''));
      const names = (await listed<KubeObject>(connection, KINDS[live] as Kind)).map(({ metadata }) => metadata.name);
      return names.filter((name) => !given.includes(name)).map(named);
    });
  } catch {
    return [];
  }
}

function named(value: string): Suggestion {
  return { value };
}

async function listed<T extends KubeObject>(
  { client, namespace }: Connection,
  kind: Kind<T>,
  within = namespace,
): Promise<readonly T[]> {
  const page = await client.list(kind, {
    limit: 500,
    timeoutMs: TIMEOUT_MS,
    ...(kind.namespaced && { namespace: within }),
  });
  return page.items;
}

/** The Deployments that can be cloned, in the namespace of the value. */
async function bases(connection: Connection, value: string): Promise<readonly Container[]> {
  const [, namespace] = /^([^/=]+)\//.exec(value) ?? [];
  const deployments = await listed(connection, Deployment, namespace);
  return deployments
    .filter((each) => baseProblem(each) === undefined)
    .flatMap(({ metadata: { name }, spec }) =>
      (spec?.template?.spec?.containers ?? []).map(({ name: container, image = '' }) => ({
        deployment: namespace === undefined ? name : `${namespace}/${name}`,
        container,
        image,
      })),
    );
}

/** The containers that an environment overrides. */
async function overrides({ client, namespace }: Connection, name: string): Promise<readonly Container[]> {
  const env: DynamicEnv = await client.get(ENVIRONMENT.kind, { name, namespace });
  return [...env.spec.subsets, ...(env.spec.consumers ?? [])].flatMap((item) =>
    (item.containers ?? []).map(({ containerName, image = '' }) => ({
      deployment: item.namespace === namespace ? item.name : `${item.namespace}/${item.name}`,
      container: containerName,
      image,
    })),
  );
}
