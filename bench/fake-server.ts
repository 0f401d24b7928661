// An API server with canned responses over TLS, in its own process so that its CPU time is not counted. Started by
// bench/client.ts.
import https from 'node:https';
import type { ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createAuthority } from '../src/kube/pki.ts';

const PODS = 10_000;
const PAGE = 500;
const EVENTS = 50_000;
const NAMES = 2_000;

/** The address and CA certificate, sent to the parent process. */
export interface Address {
  readonly url: string;
  readonly caPem: string;
}

/** The managedFields that the controller manager and the kubelet set on every pod. */
const managers = [
  managed('kube-controller-manager', {
    'f:metadata': {
      'f:generateName': {},
      'f:labels': leaves('app', 'pod-template-hash'),
      'f:ownerReferences': { '.': {} },
    },
    'f:spec': {
      'f:containers': {
        'k:{"name":"web"}': {
          ...leaves('image', 'imagePullPolicy', 'name', 'terminationMessagePath', 'terminationMessagePolicy'),
          'f:env': Object.fromEntries(
            Array.from({ length: 12 }, (_, at) => [`k:{"name":"SETTING_${at}"}`, leaves('name', 'value')]),
          ),
          'f:livenessProbe': { ...leaves('failureThreshold', 'periodSeconds'), 'f:httpGet': leaves('path', 'port') },
          'f:ports': { 'k:{"containerPort":8080,"protocol":"TCP"}': leaves('containerPort', 'protocol') },
          'f:resources': { 'f:limits': leaves('cpu', 'memory'), 'f:requests': leaves('cpu', 'memory') },
        },
      },
      ...leaves('dnsPolicy', 'enableServiceLinks', 'restartPolicy', 'schedulerName', 'terminationGracePeriodSeconds'),
    },
  }),
  managed('kubelet', {
    'f:status': {
      'f:conditions': Object.fromEntries(
        ['ContainersReady', 'Initialized', 'PodReadyToStartContainers', 'Ready'].map((type) => [
          `k:{"type":"${type}"}`,
          leaves('lastProbeTime', 'lastTransitionTime', 'status', 'type'),
        ]),
      ),
      ...leaves('containerStatuses', 'hostIP', 'hostIPs', 'phase', 'podIP', 'startTime'),
    },
  }),
];
const pods = Array.from({ length: PODS }, (_, index) => JSON.stringify(pod(index)));
const pages = Array.from({ length: PODS / PAGE }, (_, index) => {
  const next = (index + 1) * PAGE < PODS ? String(index + 1) : '';
  return podList(pods.slice(index * PAGE, (index + 1) * PAGE), next);
});
const whole = podList(pods, '');
const none = podList([], '');
const small = Buffer.from(
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'small', namespace: 'shop' },
    data: { a: 'b' },
  }),
);
/** Informers ignore events with a known resource version, so each event gets its own, written at offset `at`. */
const templates = Array.from({ length: NAMES }, (_, index) => {
  const object = { apiVersion: 'v1', kind: 'Pod', ...pod(index) };
  const line = Buffer.from(`${JSON.stringify({ type: 'MODIFIED', object })}\n`);
  const mark = '"resourceVersion":"';
  return { line, at: line.indexOf(mark) + mark.length };
});

const authority = createAuthority({ commonName: 'benchmark', days: 1 });
const { certPem, keyPem } = authority.issue({
  commonName: 'server',
  ipAddresses: ['127.0.0.1'],
  days: 1,
  usage: 'server',
});
const server = https.createServer({ cert: certPem, key: keyPem }, (request, response) => {
  const url = new URL(request.url ?? '/', 'https://server');
  if (url.searchParams.has('watch')) sendEvents(response, 0);
  else if (url.pathname.endsWith('/configmaps/small')) send(response, small);
  else if (url.pathname === '/api/v1/namespaces/watched/pods') send(response, none);
  else if (url.searchParams.has('limit')) send(response, pages[Number(url.searchParams.get('continue') ?? 0)]!);
  else send(response, whole);
});
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  process.send?.({ url: `https://127.0.0.1:${port}`, caPem: authority.certPem } satisfies Address);
});
process.on('disconnect', () => process.exit(0));

function send(response: ServerResponse, body: Buffer): void {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length }).end(body);
}

/** Flushes each event separately, as the real server does, at the pace of the reader. */
function sendEvents(response: ServerResponse, from: number): void {
  if (from === 0) response.writeHead(200, { 'content-type': 'application/json' });
  for (let index = from; index < EVENTS; index++) {
    if (!response.write(event(index))) {
      response.once('drain', () => sendEvents(response, index + 1));
      return;
    }
  }
  response.end();
}

function event(index: number): Buffer {
  const { line, at } = templates[index % NAMES]!;
  const copy = Buffer.from(line);
  copy.write(String(200_000 + index), at, 'ascii');
  return copy;
}

function managed(manager: string, fieldsV1: object): object {
  const time = '2026-11-15T08:00:00Z';
  return { manager, operation: 'Update', apiVersion: 'v1', time, fieldsType: 'FieldsV1', fieldsV1 };
}

function leaves(...names: readonly string[]): object {
  return { '.': {}, ...Object.fromEntries(names.map((name) => [`f:${name}`, {}])) };
}

function podList(items: readonly string[], next: string): Buffer {
  const metadata = JSON.stringify({ resourceVersion: '100000', ...(next === '' ? {} : { continue: next }) });
  return Buffer.from(`{"kind":"PodList","apiVersion":"v1","metadata":${metadata},"items":[${items.join(',')}]}`);
}

/** A pod of usual size, about 5 KB, nearly half of it managedFields. */
function pod(index: number): object {
  const hex = (index * 2654435761).toString(16).padStart(16, '0').repeat(4);
  const env = Array.from({ length: 12 }, (_, at) => ({ name: `SETTING_${at}`, value: `value ${at} of pod ${index}` }));
  const conditions = ['Initialized', 'Ready', 'ContainersReady', 'PodScheduled'].map((type) => ({
    type,
    status: 'True',
    lastProbeTime: null,
    lastTransitionTime: '2026-11-15T08:00:00Z',
  }));
  const account = {
    name: 'kube-api-access',
    mountPath: '/var/run/secrets/kubernetes.io/serviceaccount',
    readOnly: true,
  };
  return {
    metadata: {
      name: `web-${index}`,
      generateName: 'web-',
      managedFields: managers,
      namespace: `team-${index % 50}`,
      uid: `${hex.slice(0, 8)}-0000-4000-8000-${hex.slice(8, 20)}`,
      resourceVersion: String(100_000 + index),
      creationTimestamp: '2026-11-15T08:00:00Z',
      labels: { app: 'web', 'pod-template-hash': hex.slice(0, 10), 'app.kubernetes.io/part-of': 'shop' },
      annotations: { 'example.com/checksum': hex, 'example.com/owner': 'the shop team' },
      ownerReferences: [
        {
          apiVersion: 'apps/v1',
          kind: 'ReplicaSet',
          name: 'web',
          uid: hex.slice(0, 32),
          controller: true,
          blockOwnerDeletion: true,
        },
      ],
    },
    spec: {
      containers: [
        {
          name: 'web',
          image: `registry.example.com/shop/web@sha256:${hex}`,
          ports: [{ name: 'http', containerPort: 8080, protocol: 'TCP' }],
          env,
          resources: { limits: { cpu: '500m', memory: '256Mi' }, requests: { cpu: '100m', memory: '128Mi' } },
          readinessProbe: {
            httpGet: { path: '/ready', port: 'http', scheme: 'HTTP' },
            periodSeconds: 10,
            failureThreshold: 3,
          },
          volumeMounts: [account],
          terminationMessagePath: '/dev/termination-log',
          imagePullPolicy: 'IfNotPresent',
        },
      ],
      restartPolicy: 'Always',
      terminationGracePeriodSeconds: 30,
      serviceAccountName: 'web',
      nodeName: `node-${index % 100}`,
      tolerations: [
        { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 },
      ],
    },
    status: {
      phase: 'Running',
      conditions,
      hostIP: '10.0.0.1',
      podIP: `10.1.${index % 250}.7`,
      startTime: '2026-11-15T08:00:00Z',
      containerStatuses: [
        {
          name: 'web',
          state: { running: { startedAt: '2026-11-15T08:00:01Z' } },
          ready: true,
          restartCount: 0,
          image: 'registry.example.com/shop/web',
          imageID: `sha256:${hex}`,
          containerID: `containerd://${hex}`,
        },
      ],
      qosClass: 'Burstable',
    },
  };
}
