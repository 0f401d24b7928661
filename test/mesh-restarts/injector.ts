// The injector of istiod: a webhook that adds the sidecar from the injector's ConfigMap to every new pod in a namespace
// with injection.
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { defineKind, defineTable, systemClock, Tables } from '../../src/kube/index.ts';
import type { AnyObject, Client, KubeObject } from '../../src/kube/index.ts';
import { createAuthority } from '../../src/kube/pki.ts';

interface ConfigMap extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
}

interface Values {
  readonly global: { readonly hub: string; readonly tag: string; readonly proxy: { readonly resources: object } };
  readonly pilot: { readonly cni: { readonly enabled: boolean } };
}

export interface Injector {
  /** Pods with this name prefix never become ready if they get this version. */
  stuck: { readonly prefix: string; readonly tag: string } | undefined;
  close(): Promise<void>;
}

const ConfigMaps = defineTable(defineKind<ConfigMap>('v1', 'ConfigMap', 'configmaps'), { namespace: 'istio-system' });
const MutatingWebhookConfiguration = defineKind(
  'admissionregistration.k8s.io/v1',
  'MutatingWebhookConfiguration',
  'mutatingwebhookconfigurations',
  { namespaced: false },
);

/** Serves the webhook, and registers it. */
export async function startInjector(client: Client): Promise<Injector> {
  const ending = new AbortController();
  const tables = new Tables([ConfigMaps]);
  const running = tables.run({ client, clock: systemClock, signal: ending.signal });
  await tables.whenSynced();
  const valuesNow = (): Values | undefined => {
    const text = tables.of(ConfigMaps).get('istio-system/istio-sidecar-injector')?.data?.['values'];
    return text === undefined ? undefined : (JSON.parse(text) as Values);
  };
  const authority = createAuthority({ commonName: 'injector', days: 1 });
  const request = { commonName: 'injector', ipAddresses: ['127.0.0.1'], days: 1, usage: 'server' } as const;
  const { certPem, keyPem } = authority.issue(request);
  const server = createServer({ cert: certPem, key: keyPem }, (asked, response) => {
    const chunks: Buffer[] = [];
    asked.on('data', (chunk: Buffer) => chunks.push(chunk));
    asked.on('end', () => {
      const { uid, object } = (JSON.parse(Buffer.concat(chunks).toString()) as Review).request;
      const values = valuesNow();
      const patch = values && Buffer.from(JSON.stringify(patchOf(object, values, injector.stuck))).toString('base64');
      const answer = { uid, allowed: true, ...(patch && { patchType: 'JSONPatch', patch }) };
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response: answer }));
    });
  });
  const injector: Injector = {
    stuck: undefined,
    async close() {
      ending.abort();
      await running;
      server.closeAllConnections();
      await new Promise<void>((resolve) => void server.close(() => resolve()));
    },
  };
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const configuration = configurationOf(`https://127.0.0.1:${port}/inject`, authority.certPem);
  await client.create(MutatingWebhookConfiguration, configuration);
  return injector;
}

interface Review {
  readonly request: { readonly uid: string; readonly object: AnyObject };
}

function configurationOf(url: string, caPem: string): AnyObject {
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'MutatingWebhookConfiguration',
    metadata: { name: 'test-injector' },
    webhooks: [
      {
        name: 'inject.example.org',
        clientConfig: { url, caBundle: Buffer.from(caPem).toString('base64') },
        rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] }],
        admissionReviewVersions: ['v1'],
        sideEffects: 'None',
        namespaceSelector: { matchLabels: { 'istio-injection': 'enabled' } },
      },
    ],
  };
}

function patchOf(
  { metadata, spec }: AnyObject,
  { global, pilot }: Values,
  stuck: Injector['stuck'],
): readonly unknown[] {
  const { containers, initContainers = [] } = spec as { containers: unknown[]; initContainers?: unknown[] };
  const image = `${global.hub}/proxyv2:${global.tag}`;
  const name = metadata.name ?? metadata.generateName ?? '';
  const isStuck = stuck !== undefined && name.startsWith(stuck.prefix) && global.tag.startsWith(stuck.tag);
  const annotations = {
    ...metadata.annotations,
    'sidecar.istio.io/status': '{}',
    ...(isStuck && { 'offshoot.dev/simulate': 'never-ready' }),
  };
  const init = { name: pilot.cni.enabled ? 'istio-validation' : 'istio-init', image };
  const sidecar = { name: 'istio-proxy', image, resources: global.proxy.resources };
  return [
    { op: 'add', path: '/metadata/annotations', value: annotations },
    { op: 'add', path: '/spec/containers', value: [...containers, sidecar] },
    { op: 'add', path: '/spec/initContainers', value: [init, ...initContainers] },
  ];
}
