// The audit log of a real API server: who asked for what. Tests compare it with the roles of deploy/.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/** A request as RBAC sees it. */
export interface AuditedRequest {
  readonly verb: string;
  readonly group: string;
  /** With its subresource: `deployments/status`. */
  readonly resource: string;
  readonly namespace?: string;
  readonly name?: string;
  /** Whether a role was missing for it. */
  readonly forbidden: boolean;
}

interface AuditEvent {
  readonly verb: string;
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

/** Controllers act as their accounts by the rights of an administrator: nobody else need be recorded. */
const POLICY = {
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  omitStages: ['RequestReceived'],
  rules: [{ level: 'Metadata', userGroups: ['system:masters'] }],
};

export function auditArgs(dir: string): string[] {
  const policy = path.join(dir, 'audit-policy.json');
  writeFileSync(policy, JSON.stringify(POLICY));
  return [`--audit-policy-file=${policy}`, `--audit-log-path=${logIn(dir)}`];
}

function logIn(dir: string): string {
  return path.join(dir, 'audit.log');
}

/** What somebody has asked of the cluster so far; undefined where there is no log. */
export function auditedRequests(kubeconfigPath: string, user: string): readonly AuditedRequest[] | undefined {
  const file = logIn(path.resolve(kubeconfigPath, '../..'));
  if (!existsSync(file)) return undefined;
  const lines = readFileSync(file, 'utf8').split('\n');
  const theirs = lines.filter((line) => line.includes(user)).map((line) => JSON.parse(line) as AuditEvent);
  return theirs.filter(({ impersonatedUser }) => impersonatedUser?.username === user).flatMap(requestsOf);
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
  // To apply what is not there needs the right to create it, which the server asks for without another request.
  const creates = verb === 'patch' && responseStatus?.code === 201;
  return creates ? [request, { ...request, verb: 'create' }] : [request];
}
