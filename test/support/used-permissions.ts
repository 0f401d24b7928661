// Compares the role of a part with the audit log: the role must allow every logged request, and every permission of it
// must have been used. The requests of controllers come from two test files, the scenarios and the tests with Lease and
// webhook: the one that ends last checks both. A file that runs alone can't tell which permissions are unused, except
// for those in the namespace of the controllers, which only the tests with Lease and webhook need. The dashboard has
// its own file.
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, test } from 'vitest';
import { auditedRequests } from '../cluster/audit.ts';
import type { AuditedRequest } from '../cluster/audit.ts';
import type { Cluster } from '../cluster/index.ts';
import { ClusterPool } from '../cluster/pool.ts';
import { poll } from '../scenarios/poll.ts';
import { ACCOUNT, accountOf, rolesOfAccount } from './with-permissions.ts';
import type { PartWithPermissions, Rule } from './with-permissions.ts';

/** One permission of a role: a rule with one group, one resource and one verb. */
interface SinglePermission {
  readonly group: string;
  readonly resource: string;
  readonly verb: string;
  readonly names: readonly string[] | undefined;
  /** Whether it is limited to the namespace of the controllers. */
  readonly isOfNamespace: boolean;
}

type File = 'dashboard' | 'permissions' | 'scenarios';
const filesOf = (part: PartWithPermissions): readonly File[] =>
  part === 'dashboard' ? ['dashboard'] : ['scenarios', 'permissions'];

/** Verbs that no request has: the server checks them when roles are written and bound. */
const NEVER_LOGGED = new Set(['bind', 'escalate', 'view']);

/** Permissions that are needed although no test uses them, by the reason. */
const UNTESTED: Readonly<Partial<Record<PartWithPermissions, Readonly<Record<string, readonly string[]>>>>> = {
  targets: {
    'a kind that is not served yet is waited for: all of this part are, unless its own definitions are new':
      permissionsTo(['list', 'watch'], 'customresourcedefinitions.apiextensions.k8s.io'),
    'tiers pass them on, and nobody can write a role with permissions that they do not have': [
      ...permissionsTo(['list', 'watch'], 'ingressclasses.networking.k8s.io', 'persistentvolumes'),
      ...permissionsTo(['list', 'watch'], 'roles.authorization.openshift.io'),
    ],
  },
  mesh: {
    'Istio has them on clouds, where the tests are not': permissionsTo(
      ['list', 'watch', 'create', 'patch', 'delete'],
      'network-attachment-definitions.k8s.cni.cncf.io',
      'resourcequotas',
    ),
    'made with settings, for older versions of Istio, or where the kind is installed': [
      ...permissionsTo(
        ['create', 'patch', 'delete'],
        'envoyfilters.networking.istio.io',
        'gateways.networking.istio.io',
      ),
      ...permissionsTo(['create', 'patch', 'delete'], 'virtualservices.networking.istio.io'),
      ...permissionsTo(['watch', 'create', 'patch', 'delete'], 'verticalpodautoscalers.autoscaling.k8s.io'),
    ],
    'removed only where a label says that Istio has made it': permissionsTo(
      ['delete'],
      'peerauthentications.security.istio.io',
      'secrets',
    ),
    'workloads that few people have are restarted too': [
      ...permissionsTo(['patch'], 'replicasets.apps', 'replicationcontrollers'),
      // Also needed for the last of Istio's own pods, unless the garbage collector is faster.
      ...permissionsTo(['delete'], 'pods'),
      ...permissionsTo(['watch', 'patch'], 'rollouts.argoproj.io'),
    ],
  },
};

/** A Lease is renewed every two seconds, and a request is logged some time after its response. */
const DEADLINE_MS = 20_000;

function permissionsTo(verbs: readonly string[], ...resources: readonly string[]): readonly string[] {
  return resources.flatMap((resource) => verbs.map((verb) => `${verb} ${resource}`));
}

/** Adds the test, which passes where there is no audit log. Call it last in a suite, while its controllers run. */
export function testUsedPermissions(
  cluster: Pick<Cluster, 'kubeconfigPath'> | ClusterPool,
  part: PartWithPermissions,
  file: File,
): void {
  test('the role has every permission that is used, and no other', async () => {
    const user = file === 'permissions' ? ACCOUNT : accountOf(part);
    const paths = cluster instanceof ClusterPool ? await cluster.kubeconfigPaths() : [cluster.kubeconfigPath];
    const permissions = permissionsOf(part);
    const untested = Object.values(UNTESTED[part] ?? {}).flat();
    let lacking: readonly string[] = [];
    let unused: readonly string[] = [];
    const judge = async (): Promise<boolean> => {
      const logs = paths.map((path) => auditedRequests(path, user)).filter((log) => log !== undefined);
      if (logs.length === 0) return true;
      const requests = logs.flat();
      lacking = textsOf(
        requests.filter((each) => each.forbidden || !permissions.some((permission) => allows(permission, each))),
      );
      const { all, isComplete } = record(part, file, requests);
      const toBeUsed = permissions.filter(
        (permission) => isComplete || (file === 'permissions' && permission.isOfNamespace),
      );
      unused = textsOf(
        toBeUsed.filter(
          (permission) => !NEVER_LOGGED.has(permission.verb) && !all.some((request) => allows(permission, request)),
        ),
      ).filter((text) => !untested.includes(text));
      return requests.length > 0 && lacking.length + unused.length === 0;
    };
    await poll(judge, DEADLINE_MS).catch(() => undefined);
    expect({ lacking, unused }).toEqual({ lacking: [], unused: [] });
    expect(await judge()).toBe(true);
    expect(untested.filter((text) => !textsOf(permissions).includes(text))).toEqual([]);
  });
}

/** The permissions of all roles that are bound to the account. */
function permissionsOf(part: PartWithPermissions): readonly SinglePermission[] {
  return rolesOfAccount(part).flatMap((role) => {
    const isOfNamespace = role.kind === 'Role';
    return (role['rules'] as readonly Rule[]).flatMap(({ apiGroups, resources, verbs, resourceNames: names }) =>
      apiGroups.flatMap((group) =>
        resources.flatMap((resource) => verbs.map((verb) => ({ group, resource, verb, names, isOfNamespace }))),
      ),
    );
  });
}

function allows({ group, resource, verb, names }: SinglePermission, request: AuditedRequest): boolean {
  return (
    group === request.group &&
    (resource === '*' || resource === request.resource) &&
    verb === request.verb &&
    (names === undefined || names.includes(request.name ?? ''))
  );
}

function textsOf(some: readonly Pick<SinglePermission, 'group' | 'resource' | 'verb'>[]): readonly string[] {
  const texts = some.map(({ group, resource, verb }) => `${verb} ${resource}${group === '' ? '' : `.${group}`}`);
  return [...new Set(texts)].toSorted();
}

/** Saves the requests of one file for the other; returns those of both, if the other has ended already. */
function record(
  part: PartWithPermissions,
  file: File,
  requests: readonly AuditedRequest[],
): { readonly all: readonly AuditedRequest[]; readonly isComplete: boolean } {
  const dir = path.join(tmpdir(), `offshoot-used-permissions-${process.env['OFFSHOOT_TEST_RUN']}`);
  const fileOf = (each: string): string => path.join(dir, `${part}-${each}.json`);
  mkdirSync(dir, { recursive: true });
  const unique = new Map(requests.map((request) => [JSON.stringify(request), request]));
  // Renames, because the other may be reading.
  writeFileSync(`${fileOf(file)}.new`, JSON.stringify([...unique.values()]));
  renameSync(`${fileOf(file)}.new`, fileOf(file));
  const others = filesOf(part)
    .filter((each) => each !== file)
    .map(fileOf);
  const ended = others.filter((each) => existsSync(each));
  const theirs = ended.flatMap((each) => JSON.parse(readFileSync(each, 'utf8')) as AuditedRequest[]);
  return { all: [...requests, ...theirs], isComplete: ended.length === others.length };
}
