// The sample shop in tables that a test fills: ready, with one pod per workload, and without a cluster.
import { Tables } from '../../kube/index.ts';
import type { AnyKind, AnyObject } from '../../kube/index.ts';
import { DestinationRule, VirtualService } from '../../traffic/istio/objects.ts';
import type { HttpRoute } from '../../traffic/istio/objects.ts';
import { worldTables } from '../../traffic/index.ts';
import { Deployment } from '../../traffic/services.ts';
import { hopsOf } from '../answer.ts';
import { LiveFacts } from '../live-facts.ts';
import { Pods } from '../pods.ts';
import type { Reply } from '../proxy.ts';
import { gatewayOf } from '../requests.ts';
import { CALLS, GATEWAY, NAMESPACE, shopObjects } from '../shop.ts';

interface Workload {
  readonly image: string;
  readonly version?: string;
  readonly calls?: string;
  readonly isReady?: boolean;
}

export interface ShopTables {
  put(kind: AnyKind, name: string, fields: object): void;
  /** Replaces the routes of a service. */
  routes(name: string, http: readonly HttpRoute[]): void;
  /** Adds a version of a service, with a subset of the same name. */
  workload(app: string, workload: Workload): void;
  /** Sends a request to the gateway. */
  ask(headers?: Readonly<Record<string, string>>, more?: { host?: string; path?: string }): Promise<Reply>;
  /** The hops of a request, as versions or statuses. */
  path(headers?: Readonly<Record<string, string>>): Promise<string>;
}

/** The shop; `random` picks among weighted destinations. */
export function shopInTables(random: () => number = () => 0): ShopTables {
  const tables = new Tables([...worldTables, Pods]);
  const send = gatewayOf({ facts: new LiveFacts(tables), random });
  let count = 0;
  const put: ShopTables['put'] = (kind, name, fields) => {
    const resourceVersion = String(++count);
    const metadata = { name, namespace: NAMESPACE, uid: `${kind.kind} ${name}`, resourceVersion };
    const { metadata: more, ...rest } = fields as Partial<AnyObject>;
    const apiVersion = kind.group === '' ? kind.version : `${kind.group}/${kind.version}`;
    const object = { apiVersion, kind: kind.kind, metadata: { ...metadata, ...more }, ...rest };
    for (const table of tables.holding(kind)) table.observe(object);
  };
  const workload: ShopTables['workload'] = (app, { image, version = 'shared', calls, isReady = true }) => {
    const name = version === 'shared' ? app : `${app}-${version}`;
    const labels = { app, version };
    put(Deployment, name, {
      spec: { template: { metadata: { labels } } },
      status: { readyReplicas: isReady ? 1 : 0 },
    });
    const env = calls === undefined ? [] : [{ name: CALLS, value: calls }];
    const ownerReferences = [
      { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: `${name}-1`, uid: '1', controller: true },
    ];
    put(Pods, `${name}-1-a`, {
      metadata: { labels: { ...labels, 'pod-template-hash': '1' }, ownerReferences },
      spec: { containers: [{ name: app, image, env }] },
      status: { conditions: [{ type: 'Ready', status: isReady ? 'True' : 'False' }] },
    });
    const versions = [...new Set(['shared', version])];
    const subsets = versions.map((each) => ({ name: each, labels: { version: each } }));
    put(DestinationRule, app, { spec: { host: app, subsets } });
  };
  for (const { kind, object } of shopObjects()) {
    if (kind !== Deployment) put(kind, object.metadata.name, object['spec'] ? { spec: object['spec'] } : {});
  }
  const next: Readonly<Record<string, string>> = { frontend: 'catalog', catalog: 'reviews', reviews: 'ratings' };
  for (const app of ['frontend', 'catalog', 'reviews', 'ratings']) {
    workload(app, { image: `shop/${app}:1`, ...(next[app] && { calls: `http://${next[app]}:8080/` }) });
  }
  const ask: ShopTables['ask'] = (headers = {}, { host = '127.0.0.1:7480', path = '/' } = {}) =>
    send(
      { host, path, headers, port: GATEWAY.port, source: { gateway: GATEWAY.gateway } },
      AbortSignal.timeout(10_000),
    );
  return {
    put,
    workload,
    routes: (name, http) => put(VirtualService, name, { spec: { hosts: [name], http } }),
    ask,
    path: async (headers) => {
      const { status, answer } = await ask(headers);
      const hops = hopsOf({ url: 'http://shop/', status, ...(answer && { answer }) });
      return hops.map(({ version, status: failed }) => version ?? failed).join(' ');
    },
  };
}
