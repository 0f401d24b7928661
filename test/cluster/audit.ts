// The audit log of a real API server: who sent which request. Tests compare it with the roles of deploy/.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/** A request as RBAC sees it. */
export interface AuditedRequest {
  readonly verb: string;
  readonly group: string;
  /** With the subresource: `deployments/status`. */
  readonly resource: string;
  readonly namespace?: string;
  readonly name?: string;
  /** Whether RBAC denied it. */
  readonly forbidden: boolean;
}

/** A write by a pod. */
export interface PodWrite {
  readonly pod: string;
  /** When the server received it. */
  readonly at: string;
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
}

interface AuditEvent {
  readonly verb: string;
  readonly user?: { readonly extra?: Readonly<Record<string, readonly string[]>> };
  readonly requestReceivedTimestamp?: string;
  readonly impersonatedUser?: { readonly username?: string };
  readonly objectRef?: {
    readonly apiGroup?: string;
    readonly resource?: string;
    readonly subresource?: string;
    readonly namespace?: string;
    readonly name?: string;
  };
  readonly responseStatus?: { readonly code?: number };
  readonly annotations?: Readonly<Record<string, string>>;
}

/** A claim in the token of a pod's service account. */
const POD_NAME = 'authentication.kubernetes.io/pod-name';
const READS = new Set(['get', 'list', 'watch']);

/** Controllers impersonate their service accounts as an administrator, or run as pods: nothing else is recorded. */
const POLICY = {
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  omitStages: ['RequestReceived'],
  rules: [{ level: 'Metadata', userGroups: ['system:masters', 'system:serviceaccounts:offshoot-system'] }],
};

export function auditArgs(dir: string): string[] {
  const policy = path.join(dir, 'audit-policy.json');
  writeFileSync(policy, JSON.stringify(POLICY));
  // In megabytes: the log must not be rotated within a run, since only this file is read.
  return [`--audit-policy-file=${policy}`, `--audit-log-path=${logIn(dir)}`, '--audit-log-maxsize=10000'];
}

function logIn(dir: string): string {
  return path.join(dir, 'audit.log');
}

/** The requests that a user has sent so far; undefined where there is no log. */
export function auditedRequests(kubeconfigPath: string, user: string): readonly AuditedRequest[] | undefined {
  const file = logIn(path.resolve(kubeconfigPath, '../..'));
  if (!existsSync(file)) return undefined;
  // The last line may be half written.
  const lines = readFileSync(file, 'utf8').split('\n').slice(0, -1);
  const theirs = lines.filter((line) => line.includes(user)).map((line) => JSON.parse(line) as AuditEvent);
  return theirs.filter(({ impersonatedUser }) => impersonatedUser?.username === user).flatMap(requestsOf);
}

/** What pods have written to a namespace so far, without Events and Leases, in the order in which it was received. */
export function writesByPods(dir: string, namespace: string): readonly PodWrite[] {
  const lines = readFileSync(logIn(dir), 'utf8').split('\n');
  const events = lines.filter((line) => line.includes(POD_NAME)).map((line) => JSON.parse(line) as AuditEvent);
  const writes = events.flatMap(({ verb, user, objectRef = {}, requestReceivedTimestamp: at = '' }) => {
    const { resource = '', name = '' } = objectRef;
    const isWrite = !READS.has(verb) && !['events', 'leases'].includes(resource) && objectRef.namespace === namespace;
    return isWrite ? [{ pod: user?.extra?.[POD_NAME]?.[0] ?? '', at, resource, namespace, name }] : [];
  });
  return writes.toSorted((a, b) => (a.at < b.at ? -1 : 1));
}

function requestsOf({ verb, objectRef, responseStatus, annotations = {} }: AuditEvent): readonly AuditedRequest[] {
  if (objectRef?.resource === undefined) return [];
  const { apiGroup: group = '', resource, subresource, namespace, name } = objectRef;
  const request = {
    verb,
    group,
    resource: subresource === undefined ? resource : `${resource}/${subresource}`,
    ...(namespace !== undefined && { namespace }),
    ...(name !== undefined && { name }),
    forbidden: annotations['authorization.k8s.io/decision'] === 'forbid',
  };
  // An apply that creates the object also needs the verb "create", which the server checks without another request.
  const creates = verb === 'patch' && responseStatus?.code === 201;
  return creates ? [request, { ...request, verb: 'create' }] : [request];
}
