// Reads the objects of a status report. What can't be read is listed, and the rest is reported.
import type { Client } from '../../kube/client/client.ts';
import { ApiError, isForbidden, isNotFound, serverMessage } from '../../kube/errors.ts';
import { Lease } from '../../kube/lease.ts';
import { defineKind } from '../../kube/objects.ts';
import type { AnyKind, Kind, KubeObject } from '../../kube/objects.ts';
import { Definition, Deployment, Registration, selectorText } from '../install/installed.ts';
import { listAll } from '../objects/follow.ts';
import { leasesOf } from '../run/lease-holders.ts';
import { partsOf } from '../run/parts.ts';

export interface Pod extends KubeObject {
  readonly spec?: { readonly nodeName?: string };
  readonly status?: {
    readonly phase?: string;
    readonly reason?: string;
    readonly containerStatuses?: readonly {
      readonly name: string;
      readonly ready: boolean;
      readonly restartCount: number;
      readonly state?: { readonly waiting?: { readonly reason?: string; readonly message?: string } };
      readonly lastState?: { readonly terminated?: { readonly reason?: string; readonly exitCode?: number } };
    }[];
  };
}

export const Pods = defineKind<Pod>('v1', 'Pod', 'pods');

export interface Installed extends KubeObject {
  readonly spec?: {
    readonly replicas?: number;
    readonly template?: { readonly spec?: { readonly containers?: readonly { readonly args?: readonly string[] }[] } };
  };
  readonly status?: { readonly readyReplicas?: number };
}

interface WebhookRegistrations extends KubeObject {
  readonly webhooks?: readonly { readonly clientConfig?: { readonly caBundle?: string } }[];
}

/** The input of a report. */
export interface Observed {
  readonly deployments: readonly Installed[];
  readonly pods: readonly Pod[];
  /** The leases of the parts, and of operators for which they wait. */
  readonly leases: readonly Lease[];
  /** The names of the installed definitions. */
  readonly definitions: ReadonlySet<string>;
  readonly webhooks: readonly WebhookRegistrations[];
  /** Objects that parts manage, by kind. */
  readonly objects: ReadonlyMap<string, readonly KubeObject[]>;
  /** What could not be read, and why. */
  readonly unread: readonly string[];
}

export async function observe(client: Client, kinds: readonly AnyKind[], namespace?: string): Promise<Observed> {
  const unread: string[] = [];
  const list = async <T extends KubeObject>(kind: Kind<T>, selection = {}): Promise<readonly T[]> => {
    try {
      return await listAll(client, kind, selection);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (isNotFound(error)) return [];
      if (!isForbidden(error)) throw error;
      unread.push(`${kind.plural}: ${serverMessage(error)}`);
      return [];
    }
  };
  const ours = { labelSelector: selectorText() };
  const parts = partsOf();
  const [deployments, pods, leases, definitions, webhooks, ...objects] = await Promise.all([
    list(Deployment as Kind<Installed>, ours),
    list(Pods, ours),
    Promise.all(parts.flatMap(leasesOf).map((name) => list(Lease, { fieldSelector: `metadata.name=${name}` }))),
    list(Definition),
    list(Registration as Kind<WebhookRegistrations>),
    ...kinds.map((kind) => list<KubeObject>(kind, kind.namespaced && namespace !== undefined ? { namespace } : {})),
  ]);
  return {
    deployments,
    pods,
    leases: leases.flat(),
    definitions: new Set(definitions.map(({ metadata }) => metadata.name)),
    webhooks,
    objects: new Map(kinds.map((kind, at) => [kind.kind, objects[at] ?? []])),
    unread,
  };
}
