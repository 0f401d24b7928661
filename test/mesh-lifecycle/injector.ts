// A stand-in for the injector of istiod, for clusters without real pods: while Istio is installed, new pods in
// namespaces with injection get the sidecar that it specifies.
import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { defineKind, isNotFound } from '../../src/kube/index.ts';
import type { AnyObject, Client, Kind, KubeObject } from '../../src/kube/index.ts';
import { createAuthority } from '../../src/kube/pki.ts';
import type { Pod } from '../../src/mesh/index.ts';

const Configuration = defineKind(
  'admissionregistration.k8s.io/v1',
  'MutatingWebhookConfiguration',
  'mutatingwebhookconfigurations',
  { namespaced: false },
);
const ConfigMap = defineKind<KubeObject & { readonly data: Readonly<Record<string, string>> }>(
  'v1',
  'ConfigMap',
  'configmaps',
);
const Deployment = defineKind<KubeObject & { readonly spec: { readonly template: { readonly spec: Pod['spec'] } } }>(
  'apps/v1',
  'Deployment',
  'deployments',
);
const namespace = 'istio-system';
/** The name of its MutatingWebhookConfiguration. */
export const INJECTOR = 'stand-in-injector';
const metadata = { name: INJECTOR };

interface Review {
  readonly request: { readonly uid: string; readonly object: Pod };
}

/** Serves and registers the webhook; resolves with a function that stops it. */
export async function startInjector(client: Client): Promise<() => Promise<void>> {
  const authority = createAuthority({ commonName: 'injector', days: 1 });
  const { certPem: cert, keyPem: key } = authority.issue({
    commonName: 'injector',
    ipAddresses: ['127.0.0.1'],
    usage: 'server',
    days: 1,
  });
  const server = createServer({ cert, key }, (request, response) => {
    void (async () => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const { uid, object } = (JSON.parse(Buffer.concat(chunks).toString()) as Review).request;
      const patch = await injection(client, object);
      const encoded = Buffer.from(JSON.stringify(patch)).toString('base64');
      const answer = { uid, allowed: true, patchType: 'JSONPatch', patch: encoded };
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response: answer }));
    })().catch((error: unknown) => response.writeHead(500).end(String(error)));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  await client.create(Configuration, configuration(url, authority.certPem));
  return async () => {
    await client.delete(Configuration, metadata).catch(() => undefined);
    server.closeAllConnections();
    server.close();
  };
}

function configuration(url: string, caPem: string): AnyObject {
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'MutatingWebhookConfiguration',
    metadata,
    webhooks: [
      {
        name: 'injector.example.com',
        clientConfig: { url, caBundle: Buffer.from(caPem).toString('base64') },
        rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] }],
        admissionReviewVersions: ['v1'],
        sideEffects: 'None',
        failurePolicy: 'Fail',
        namespaceSelector: { matchLabels: { 'istio-injection': 'enabled' } },
        objectSelector: {
          matchExpressions: [{ key: 'sidecar.istio.io/inject', operator: 'NotIn', values: ['false'] }],
        },
      },
    ],
  };
}

/** The JSON patch for a new pod; empty if Istio is not installed. */
async function injection(client: Client, { metadata: { annotations } }: Pod): Promise<readonly object[]> {
  const [settings, gateway] = await Promise.all([
    getIfExists(client, ConfigMap, 'istio-sidecar-injector'),
    getIfExists(client, Deployment, 'istio-ingressgateway'),
  ]);
  if (settings === undefined || gateway === undefined) return [];
  const { global } = JSON.parse(settings.data['values']!) as { global: { proxy: { resources: object } } };
  const image = gateway.spec.template.spec?.containers?.[0]?.image;
  const sidecar = { name: 'istio-proxy', image, resources: global.proxy.resources };
  const merged = { ...annotations, 'sidecar.istio.io/status': '{}' };
  return [
    { op: 'add', path: '/metadata/annotations', value: merged },
    { op: 'add', path: '/spec/containers/-', value: sidecar },
  ];
}

function getIfExists<T extends KubeObject>(client: Client, kind: Kind<T>, name: string): Promise<T | undefined> {
  return client.get(kind, { namespace, name }).catch((error: unknown) => {
    if (isNotFound(error)) return undefined;
    throw error;
  });
}
