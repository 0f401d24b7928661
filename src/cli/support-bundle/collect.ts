// Collects the content of a support bundle. A failed read is listed and does not stop the others.
import type { Client } from '../../kube/client/client.ts';
import { ApiError, isNotFound, serverMessage } from '../../kube/errors.ts';
import { Lease } from '../../kube/lease.ts';
import { defineKind } from '../../kube/objects.ts';
import type { AnyKind, KubeObject } from '../../kube/objects.ts';
import { Definition, KINDS, orNone, selectorText } from '../install/installed.ts';
import { listAll } from '../objects/follow.ts';
import { partsOf } from '../run/parts.ts';
import { Pods } from '../status/read.ts';
import type { Pod } from '../status/read.ts';
import { yamlText } from '../terminal/output.ts';
import { redacted, redactedText } from './redact.ts';

/** The content of a bundle. */
export interface Collected {
  /** File contents, by path. */
  readonly files: ReadonlyMap<string, string>;
  readonly unread: readonly { readonly what: string; readonly why: string }[];
}

interface ObjectEvent extends KubeObject {
  readonly involvedObject?: { readonly kind?: string; readonly namespace?: string; readonly name?: string };
}

const Events = defineKind<ObjectEvent>('v1', 'Event', 'events');
const Deployments = defineKind('apps/v1', 'Deployment', 'deployments');
const Services = defineKind('v1', 'Service', 'services');
const VirtualServices = defineKind('networking.istio.io/v1beta1', 'VirtualService', 'virtualservices');
const DestinationRules = defineKind('networking.istio.io/v1beta1', 'DestinationRule', 'destinationrules');

/** The maximum size of one log. */
const LOG_BYTES = 5 * 1024 * 1024;

export async function collect(client: Client, namespace: string | undefined): Promise<Collected> {
  const files = new Map<string, string>();
  const unread: { what: string; why: string }[] = [];
  const attempt = async (what: string, read: () => Promise<void>): Promise<void> => {
    try {
      await read();
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      unread.push({ what, why: serverMessage(error) });
    }
  };
  const objects = (kind: AnyKind, folder: string, selection: object): Promise<void> =>
    attempt(`${kind.plural} ${JSON.stringify(selection)}`, async () => {
      const found = await orNone(listAll<KubeObject>(client, kind, selection));
      for (const [objectNamespace, some] of Map.groupBy(found, ({ metadata }) => metadata.namespace ?? 'cluster')) {
        files.set(
          `${folder}/${objectNamespace}/${kind.plural}.yaml`,
          some.map((each) => yamlText(redacted(each))).join('---\n'),
        );
      }
    });
  const inNamespace = namespace === undefined ? {} : { namespace };
  const ours = { labelSelector: selectorText() };
  const parts = partsOf();
  await Promise.all([
    ...parts.flatMap(({ resources }) => resources.map(({ kind }) => objects(kind, 'objects', inNamespace))),
    ...[VirtualServices, DestinationRules, Services].map((kind) => objects(kind, 'objects', inNamespace)),
    // Clones and their bases.
    objects(Deployments, 'objects', inNamespace),
    ...KINDS.map((kind) => objects(kind, 'offshoot', ours)),
    objects(Pods, 'offshoot', ours),
    ...parts.map(({ lease }) => leaseFile(lease)),
    attempt('customresourcedefinitions', async () => {
      const names = new Set(parts.flatMap(({ resources }) => resources.map(({ crd }) => crd.metadata.name)));
      const found = (await listAll(client, Definition)).filter(({ metadata }) => names.has(metadata.name));
      files.set('offshoot/definitions.yaml', found.map((each) => yamlText(redacted(each))).join('---\n'));
    }),
  ]);
  const pods = await orNothing(listAll(client, Pods, ours));
  await Promise.all([events(), ...pods.flatMap((pod) => [...logs(pod), metricsOf(pod)])]);
  return { files, unread };

  function leaseFile(name: string): Promise<void> {
    return attempt(`lease ${name}`, async () => {
      const found = await listAll(client, Lease, { fieldSelector: `metadata.name=${name}` });
      if (found.length > 0)
        files.set(`offshoot/leases/${name}.yaml`, found.map((each) => yamlText(redacted(each))).join('---\n'));
    });
  }

  /** Events about objects in the bundle: our kinds, kinds that we write to, and our own namespace. */
  function events(): Promise<void> {
    const kinds = new Set([
      ...parts.flatMap(({ resources }) => resources.map(({ kind }) => kind.kind)),
      'VirtualService',
      'DestinationRule',
      'Deployment',
      'Lease',
    ]);
    const namespaces = new Set(pods.map(({ metadata }) => metadata.namespace));
    return attempt('events', async () => {
      const found = (await listAll(client, Events, inNamespace)).filter(
        ({ involvedObject, metadata }) => kinds.has(involvedObject?.kind ?? '') || namespaces.has(metadata.namespace),
      );
      files.set('events.yaml', found.map((each) => yamlText(redacted(each))).join('---\n'));
    });
  }

  function logs({ metadata: { namespace: objectNamespace = '', name }, status }: Pod): Promise<void>[] {
    return (status?.containerStatuses ?? []).flatMap((container) =>
      [false, ...(container.restartCount > 0 ? [true] : [])].map((previous) => {
        const file = `logs/${name}/${container.name}${previous ? '.previous' : ''}.log`;
        return attempt(file, async () => {
          const query = { container: container.name, previous: String(previous), limitBytes: String(LOG_BYTES) };
          const path = `/api/v1/namespaces/${objectNamespace}/pods/${name}/log`;
          files.set(file, redactedText((await client.raw<string>({ path, query, accept: '*/*' })) ?? ''));
        });
      }),
    );
  }

  function metricsOf({ metadata: { namespace: objectNamespace, name } }: Pod): Promise<void> {
    return attempt(`metrics of pod ${name}`, async () => {
      const path = `/api/v1/namespaces/${objectNamespace}/pods/${name}:8080/proxy/metrics`;
      files.set(`metrics/${name}.txt`, redactedText((await client.raw<string>({ path, accept: '*/*' })) ?? ''));
    });
  }
}

/** An empty list on API errors, which are reported elsewhere. */
async function orNothing<T>(listed: Promise<readonly T[]>): Promise<readonly T[]> {
  try {
    return await listed;
  } catch (error) {
    if (error instanceof ApiError && !isNotFound(error)) return [];
    throw error;
  }
}
