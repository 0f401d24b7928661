// Installs Offshoot as pods: the image, the roles of deploy/ and nothing else, under the strictest Pod Security.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { Lease } from '../../src/kube/index.ts';
import type { Client } from '../../src/kube/index.ts';
import { offshootImage } from './images.ts';
import { apply } from './kubectl.ts';
import type { Kubectl } from './kubectl.ts';
import { processOf } from './pods.ts';

const project = path.resolve(import.meta.dirname, '../..');
export const offshootNamespace = 'offshoot-system';
const labels = { app: 'offshoot' };
const metadata = { name: 'offshoot', namespace: offshootNamespace };

/** Applies definitions, roles, two replicas and the webhook's Service. Resolves when both replicas are ready. */
export async function installOffshoot(kubectl: Kubectl): Promise<void> {
  const cli = [path.join(project, 'bin/offshoot.js'), 'crds'];
  await kubectl(['apply', '--server-side', '-f', '-'], execFileSync(process.execPath, cli, { encoding: 'utf8' }));
  for (const part of ['environments', 'targets'])
    await kubectl(['apply', '-f', '-'], readFileSync(path.join(project, 'deploy', `${part}-rbac.yaml`), 'utf8'));
  await kubectl(['label', 'namespace', offshootNamespace, 'pod-security.kubernetes.io/enforce=restricted']);
  await apply(kubectl, service, deployment);
  await kubectl(['rollout', 'status', '-n', offshootNamespace, 'deployment/offshoot', '--timeout=90s']);
}

/** The leader of the environments part: its pod, and its identity, which differs for each process of the pod. */
export async function leaderOf(client: Client): Promise<{ readonly pod: string; readonly identity: string }> {
  const lease = await client.get(Lease, { namespace: offshootNamespace, name: 'dynamic-environment-lock' });
  const identity = lease.spec?.holderIdentity ?? '';
  return { pod: identity.split('_')[0]!, identity };
}

/** Kills the process of the leader (SIGKILL); returns its pod, in which the kubelet restarts it. */
export async function killLeader(client: Client): Promise<string> {
  const { pod } = await leaderOf(client);
  process.kill(await processOf(client, { namespace: offshootNamespace, name: pod }, 'offshoot'), 'SIGKILL');
  return pod;
}

const service = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'offshoot-webhook', namespace: offshootNamespace },
  spec: { selector: labels, ports: [{ name: 'https', port: 443, targetPort: 9443 }] },
};

const deployment = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata,
  spec: {
    replicas: 2,
    selector: { matchLabels: labels },
    template: {
      metadata: { labels },
      spec: {
        serviceAccountName: 'offshoot',
        securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
        containers: [
          {
            name: 'offshoot',
            image: offshootImage,
            args: ['run', '--controllers=environments,targets', '--leader-elect'],
            env: [{ name: 'POD_NAMESPACE', valueFrom: { fieldRef: { fieldPath: 'metadata.namespace' } } }],
            ports: [{ name: 'webhook', containerPort: 9443 }],
            readinessProbe: { httpGet: { path: '/readyz', port: 8081 }, periodSeconds: 1 },
            livenessProbe: { httpGet: { path: '/healthz', port: 8081 }, failureThreshold: 6 },
            resources: { requests: { cpu: '10m', memory: '64Mi' }, limits: { memory: '256Mi' } },
            securityContext: {
              allowPrivilegeEscalation: false,
              readOnlyRootFilesystem: true,
              capabilities: { drop: ['ALL'] },
            },
          },
        ],
      },
    },
  },
};
