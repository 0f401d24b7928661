// Holds the role of a part to what it does: every request that the API server has logged must be allowed by it, and every
// right in it must have been used. What controllers do is spread over two files, the scenarios and the tests with Lease
// and webhook: the one that ends last judges for both. One that is run alone can't say what is never used. The dashboard
// has a file of its own.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, test } from 'vitest';
import { auditedRequests } from '../cluster/audit.ts';
import type { AuditedRequest } from '../cluster/audit.ts';
import type { Cluster } from '../cluster/index.ts';
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
      ...rightsTo(['watch', 'patch'], 'rollouts.argoproj.io'),
    ],
  },
};

/** A Lease is renewed after two seconds: short tests are over by then. */
const LATER = rightsTo(['update'], 'leases.coordination.k8s.io');

function rightsTo(verbs: readonly string[], ...resources: readonly string[]): readonly string[] {
  return resources.flatMap((resource) => verbs.map((verb) => `${verb} ${resource}`));
}

/** To be called last in a suite: adds the test, which passes where there is no log. */
export function testUsedRights(cluster: Cluster, part: PartWithRights, file: File): void {
  test('the role has every right that is used, and none that is not', () => {
    const user = file === 'rights' ? ACCOUNT : accountOf(part);
    const requests = auditedRequests(cluster.kubeconfigPath, user);
    if (requests === undefined) return;
    expect(requests.length).toBeGreaterThan(0);
    const rights = rightsOf(part);
    const lacking = requests.filter((request) => request.forbidden || !rights.some((right) => allows(right, request)));
    expect(textsOf(lacking)).toEqual([]);
    const all = record(part, file, requests);
    if (all === undefined) return;
    const unused = rights.filter((right) => !UNSEEN.has(right.verb) && !all.some((request) => allows(right, request)));
    const unshown = [...(part === 'dashboard' ? [] : LATER), ...Object.values(UNSHOWN[part] ?? {}).flat()];
    expect(textsOf(unused).filter((text) => !unshown.includes(text))).toEqual([]);
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
  return roles
    .flatMap((role) => role['rules'] as readonly Rule[])
    .flatMap(({ apiGroups, resources, verbs, resourceNames: names }) =>
      apiGroups.flatMap((group) =>
        resources.flatMap((resource) => verbs.map((verb) => ({ group, resource, verb, names }))),
      ),
    );
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

/** Keeps what one file has seen for the other; with that of the other, if it has ended already. */
function record(
  part: PartWithRights,
  file: File,
  requests: readonly AuditedRequest[],
): readonly AuditedRequest[] | undefined {
  // All files of a run are tested by threads of one process.
  const dir = path.join(tmpdir(), `offshoot-used-rights-${process.pid}`);
  const fileOf = (each: string): string => path.join(dir, `${part}-${each}.json`);
  mkdirSync(dir, { recursive: true });
  const unique = new Map(requests.map((request) => [JSON.stringify(request), request]));
  writeFileSync(fileOf(file), JSON.stringify([...unique.values()]));
  const others = filesOf(part)
    .filter((each) => each !== file)
    .map(fileOf);
  if (!others.every(existsSync)) return undefined;
  return [...requests, ...others.flatMap((each) => JSON.parse(readFileSync(each, 'utf8')) as AuditedRequest[])];
}
