// Holds the role of a part to what it does: every request that the API server has logged must be allowed by it, and every
// right in it must have been used. What controllers do is spread over two files, the scenarios and the tests with Lease
// and webhook: the one that ends last judges for both. One that is run alone can't say what is never used, but for the
// rights in the namespace of the controllers, which only the tests with Lease and webhook need. The dashboard has a file of
// its own.
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, test } from 'vitest';
import { auditedRequests } from '../cluster/audit.ts';
import type { AuditedRequest } from '../cluster/audit.ts';
import type { Cluster } from '../cluster/index.ts';
import { ClusterPool } from '../cluster/pool.ts';
import { poll } from '../scenarios/poll.ts';
import { ACCOUNT, accountOf, manifestOf } from './with-rights.ts';
import type { PartWithRights } from './with-rights.ts';

interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly verbs: readonly string[];
}

/** One right of a role: a rule with one group, one resource and one verb. */
interface SingleRight {
  readonly group: string;
  readonly resource: string;
  readonly verb: string;
  readonly names: readonly string[] | undefined;
  /** Whether it is one in the namespace of the controllers alone. */
  readonly isOfNamespace: boolean;
}

type File = 'dashboard' | 'rights' | 'scenarios';
const filesOf = (part: PartWithRights): readonly File[] =>
  part === 'dashboard' ? ['dashboard'] : ['scenarios', 'rights'];

/** No request has these verbs: the server looks for them when roles are written and bound. */
const UNSEEN = new Set(['bind', 'escalate', 'view']);

/** Rights that are needed although no test shows it, by the reason. */
const UNSHOWN: Readonly<Partial<Record<PartWithRights, Readonly<Record<string, readonly string[]>>>>> = {
  targets: {
    'a kind that is not served yet is waited for: all of this part are, unless its own definitions are new': rightsTo(
      ['list', 'watch'],
      'customresourcedefinitions.apiextensions.k8s.io',
    ),
    'tiers pass them on, and nobody can write a role with rights that they do not have': [
      ...rightsTo(['list', 'watch'], 'ingressclasses.networking.k8s.io', 'persistentvolumes'),
      ...rightsTo(['list', 'watch'], 'roles.authorization.openshift.io'),
    ],
  },
  mesh: {
    'Istio has them on clouds, where the tests are not': rightsTo(
      ['list', 'watch', 'create', 'patch', 'delete'],
      'network-attachment-definitions.k8s.cni.cncf.io',
      'resourcequotas',
    ),
    'made with settings, for older versions of Istio, or where the kind is installed': [
      ...rightsTo(['create', 'patch', 'delete'], 'envoyfilters.networking.istio.io', 'gateways.networking.istio.io'),
      ...rightsTo(['create', 'patch', 'delete'], 'virtualservices.networking.istio.io'),
      ...rightsTo(['watch', 'create', 'patch', 'delete'], 'verticalpodautoscalers.autoscaling.k8s.io'),
    ],
    'removed only where a label says that Istio has made it': rightsTo(
      ['delete'],
      'peerauthentications.security.istio.io',
      'secrets',
    ),
    'workloads that few people have are restarted too': [
      ...rightsTo(['patch'], 'replicasets.apps', 'replicationcontrollers'),
      // Otherwise it is needed for what is left of Istio's own pods in the end, which is nothing where others are quicker.
      ...rightsTo(['delete'], 'pods'),
      ...rightsTo(['watch', 'patch'], 'rollouts.argoproj.io'),
    ],
  },
};

/** A Lease is renewed every two seconds, and a request is logged some time after its answer is sent. */
const DEADLINE_MS = 20_000;

function rightsTo(verbs: readonly string[], ...resources: readonly string[]): readonly string[] {
  return resources.flatMap((resource) => verbs.map((verb) => `${verb} ${resource}`));
}

/** To be called last in a suite, while its controllers run: adds the test, which passes where there is no log. */
export function testUsedRights(
  cluster: Pick<Cluster, 'kubeconfigPath'> | ClusterPool,
  part: PartWithRights,
  file: File,
): void {
  test('the role has every right that is used, and none that is not', async () => {
    const user = file === 'rights' ? ACCOUNT : accountOf(part);
    const paths = cluster instanceof ClusterPool ? await cluster.kubeconfigPaths() : [cluster.kubeconfigPath];
    const rights = rightsOf(part);
    const unshown = Object.values(UNSHOWN[part] ?? {}).flat();
    let lacking: readonly string[] = [];
    let unused: readonly string[] = [];
    const judge = async (): Promise<boolean> => {
      const logs = paths.map((path) => auditedRequests(path, user)).filter((log) => log !== undefined);
      if (logs.length === 0) return true;
      const requests = logs.flat();
      lacking = textsOf(requests.filter((each) => each.forbidden || !rights.some((right) => allows(right, each))));
      const { all, isComplete } = record(part, file, requests);
      const toBeUsed = rights.filter((right) => isComplete || (file === 'rights' && right.isOfNamespace));
      unused = textsOf(
        toBeUsed.filter((right) => !UNSEEN.has(right.verb) && !all.some((request) => allows(right, request))),
      ).filter((text) => !unshown.includes(text));
      return requests.length > 0 && lacking.length + unused.length === 0;
    };
    await poll(judge, DEADLINE_MS).catch(() => undefined);
    expect({ lacking, unused }).toEqual({ lacking: [], unused: [] });
    expect(await judge()).toBe(true);
    expect(unshown.filter((text) => !textsOf(rights).includes(text))).toEqual([]);
  });
}

/** The rights of all roles that are bound to the account. */
function rightsOf(part: PartWithRights): readonly SingleRight[] {
  const roles = manifestOf(part).filter(
    ({ kind, metadata }) =>
      (kind === 'ClusterRole' && metadata.name === `offshoot-${part}`) ||
      (kind === 'Role' && metadata.name.startsWith('offshoot')),
  );
  return roles.flatMap((role) => {
    const isOfNamespace = role.kind === 'Role';
    return (role['rules'] as readonly Rule[]).flatMap(({ apiGroups, resources, verbs, resourceNames: names }) =>
      apiGroups.flatMap((group) =>
        resources.flatMap((resource) => verbs.map((verb) => ({ group, resource, verb, names, isOfNamespace }))),
      ),
    );
  });
}

function allows({ group, resource, verb, names }: SingleRight, request: AuditedRequest): boolean {
  return (
    group === request.group &&
    (resource === '*' || resource === request.resource) &&
    verb === request.verb &&
    (names === undefined || names.includes(request.name ?? ''))
  );
}

function textsOf(some: readonly Pick<SingleRight, 'group' | 'resource' | 'verb'>[]): readonly string[] {
  const texts = some.map(({ group, resource, verb }) => `${verb} ${resource}${group === '' ? '' : `.${group}`}`);
  return [...new Set(texts)].toSorted();
}

/** Keeps what one file has seen for the other; answers with that of the other too, if it has ended already. */
function record(
  part: PartWithRights,
  file: File,
  requests: readonly AuditedRequest[],
): { readonly all: readonly AuditedRequest[]; readonly isComplete: boolean } {
  const dir = path.join(tmpdir(), `offshoot-used-rights-${process.env['OFFSHOOT_TEST_RUN']}`);
  const fileOf = (each: string): string => path.join(dir, `${part}-${each}.json`);
  mkdirSync(dir, { recursive: true });
  const unique = new Map(requests.map((request) => [JSON.stringify(request), request]));
  // The other may be reading.
  writeFileSync(`${fileOf(file)}.new`, JSON.stringify([...unique.values()]));
  renameSync(`${fileOf(file)}.new`, fileOf(file));
  const others = filesOf(part)
    .filter((each) => each !== file)
    .map(fileOf);
  const ended = others.filter((each) => existsSync(each));
  const theirs = ended.flatMap((each) => JSON.parse(readFileSync(each, 'utf8')) as AuditedRequest[]);
  return { all: [...requests, ...theirs], isComplete: ended.length === others.length };
}
