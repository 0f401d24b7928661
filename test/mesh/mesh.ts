// A real service mesh on loopback for tests: istiod, Envoys of callers, an ingress gateway, and pods that answer, on a
// given cluster. Needs no root and no containers. The fixture (index.ts) starts one for a suite.
import { writeFileSync } from 'node:fs';
import { Agent } from 'node:http';
import path from 'node:path';
import { istioDefinitions } from '../../src/embedded/crd/bundled/istio.ts';
import type { Client } from '../../src/kube/client/client.ts';
import { loadConfig } from '../../src/kube/client/config/kubeconfig.ts';
import { defineKind } from '../../src/kube/objects.ts';
import type { AnyKind, AnyObject } from '../../src/kube/objects.ts';
import { envoy } from '../programs/envoy.ts';
import { istiod } from '../programs/istio.ts';
import { findPrograms, programsOf } from '../programs/programs.ts';
import { install } from '../scenarios/install.ts';
import { startApiProxy } from './api-proxy.ts';
import { ask } from './ask.ts';
import type { Answer, Question } from './ask.ts';
import { bootstrap } from './bootstrap.ts';
import type { ProxyIdentity } from './bootstrap.ts';
import { isReady, istiodCommand, ROOT_NAMESPACE } from './istiod.ts';
import { PodServers } from './pods.ts';
import { claimRange } from './range.ts';
import type { LoopbackRange } from './range.ts';
import { RunningPrograms } from './running.ts';
import { isOfState, SETTLED_HOST, writeState } from './settled.ts';
import { Namespace } from '../support/core-kinds.ts';

export interface MeshOptions {
  readonly client: Client;
  readonly kubeconfigPath: string;
  /** The ports of Services; 8000 by default. The ingress gateway listens on the first. */
  readonly ports?: readonly number[];
  /** How long istiod waits for further changes; its default is 100ms. */
  readonly debounce?: string;
  /** How long changes of EndpointSlices are delayed for istiod; 0 by default. */
  readonly endpointLagMs?: number;
}

/** An Envoy of the mesh. */
export interface Proxy {
  readonly name: string;
  /** Its address: a caller listens on the port of every Service, the ingress gateway on the first. */
  readonly address: string;
  ask(question: Question): Promise<Answer>;
}

export interface Caller {
  readonly name: string;
  /** `default` by default. */
  readonly namespace?: string;
  readonly labels?: Readonly<Record<string, string>>;
  /** The egress hosts of its Sidecar: everything by default. `istio-system/*` must be among them. */
  readonly hosts?: readonly string[];
  /** `REGISTRY_ONLY`: requests to unknown hosts are rejected. */
  readonly outboundTrafficPolicy?: 'ALLOW_ANY' | 'REGISTRY_ONLY';
}

/** One line that says why a mesh cannot run here. */
export function missingMesh(): string | undefined {
  if (process.platform !== 'linux') return 'a mesh needs Linux, where all of 127.0.0.0/8 is loopback';
  const found = [findPrograms(istiod), findPrograms(envoy)];
  return found.map((each) => ('missing' in each ? each.missing : undefined)).find((reason) => reason !== undefined);
}

const START_MS = 60_000;
const API_PORT = 15_443;
/** The label by which a Sidecar selects its caller. */
export const PROXY_LABEL = 'mesh.offshoot.dev/proxy';

const ISTIO = 'networking.istio.io/v1beta1';
const Sidecar = defineKind(ISTIO, 'Sidecar', 'sidecars');
const Gateway = defineKind(ISTIO, 'Gateway', 'gateways');

/** Starts a mesh. Resolves when its ingress gateway is ready. */
export async function startMesh(options: MeshOptions): Promise<Mesh> {
  const mesh = new Mesh(options, await claimRange());
  try {
    await mesh.start();
    return mesh;
  } catch (error) {
    const kept = mesh.keepLogs();
    await mesh.stop();
    throw new Error(`${(error as Error).message}\nthe logs of the mesh are in ${kept}`, { cause: error });
  }
}

export class Mesh {
  readonly client: Client;
  readonly ports: readonly number[];
  readonly #options: MeshOptions;
  readonly #range: LoopbackRange;
  /** The address of istiod and of its API proxy. */
  readonly #control: string;
  readonly #programs = new RunningPrograms();
  readonly #pods: PodServers;
  readonly #agent = new Agent({ keepAlive: true });
  readonly #proxies: Proxy[] = [];
  #api: { stop(): void } | undefined;
  #ingress: Proxy | undefined;
  #state = 0;

  constructor(options: MeshOptions, range: LoopbackRange) {
    this.client = options.client;
    this.ports = options.ports ?? [8000];
    this.#options = options;
    this.#range = range;
    this.#control = range.next();
    this.#pods = new PodServers(options.client, range.prefix);
  }

  /** The folder of its logs and pid files. */
  get dir(): string {
    return this.#programs.dir;
  }

  /** The ingress gateway: the Gateway `istio-system/ingress`, for all hosts. */
  get ingress(): Proxy {
    return this.#ingress!;
  }

  async start(): Promise<void> {
    const [client, host] = [this.client, this.#control];
    const target = loadConfig({ path: this.#options.kubeconfigPath });
    const onAddress = (address: string): Promise<void> => this.#pods.serve(address);
    const api = await startApiProxy({
      target,
      host,
      port: API_PORT,
      prefix: this.#range.prefix,
      onAddress,
      endpointLagMs: this.#options.endpointLagMs ?? 0,
    });
    this.#api = api;
    await install(client, Object.values(istioDefinitions()) as unknown as AnyObject[]);
    await put(client, Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: ROOT_NAMESPACE } });
    await writeState(client, this.#state, this.ports);
    const { dir } = this.#programs;
    const { args, env } = istiodCommand({ ...this.#options, dir, address: host, server: api.url });
    this.#programs.start('istiod', path.join(programsOf(istiod), 'pilot-discovery'), args, env);
    await this.#programs.until('istiod', () => isReady(host), START_MS);
    this.#ingress = await this.#startIngress();
  }

  /** Starts the sidecar of a caller. */
  async caller({ name, namespace = 'default', labels = {}, hosts = ['*/*'], ...rest }: Caller): Promise<Proxy> {
    const address = this.#range.next();
    const label = { [PROXY_LABEL]: name };
    await put(this.client, Sidecar, {
      apiVersion: ISTIO,
      kind: Sidecar.kind,
      metadata: { name, namespace },
      // With an address to bind to, it listens there on the port of every Service.
      spec: {
        workloadSelector: { labels: label },
        egress: [{ bind: address, hosts }],
        outboundTrafficPolicy: { mode: rest.outboundTrafficPolicy ?? 'ALLOW_ANY' },
      },
    });
    // If istiod read the Sidecar after the Envoy had connected, it would not push everything that the Sidecar changes.
    await this.settled();
    return await this.#startProxy({ type: 'sidecar', name, namespace, address, labels: { ...labels, ...label } });
  }

  /** Stops the Envoy of a caller. Its Sidecar is kept, for the next caller with that name. */
  async stopCaller(proxy: Proxy): Promise<void> {
    this.#proxies.splice(this.#proxies.indexOf(proxy), 1);
    await this.#programs.end(proxy.name);
  }

  /** Resolves when every proxy has applied what was written before. */
  async settled(deadlineMs = 20_000): Promise<void> {
    this.#state += 1;
    await writeState(this.client, this.#state, this.ports);
    await Promise.all(this.#proxies.map((proxy) => this.#applied(proxy, deadlineMs)));
  }

  /** Copies the logs to a folder that is kept; returns its path. */
  keepLogs(): string {
    return this.#programs.keepLogs();
  }

  async stop(): Promise<void> {
    await this.#programs.stop();
    this.#api?.stop();
    this.#agent.destroy();
    await this.#pods.stop();
    this.#range.release();
  }

  async #startIngress(): Promise<Proxy> {
    const [name, namespace, address] = ['ingress', ROOT_NAMESPACE, this.#range.next()];
    const labels = { istio: name };
    await put(this.client, Gateway, {
      apiVersion: ISTIO,
      kind: Gateway.kind,
      metadata: { name, namespace },
      spec: {
        selector: labels,
        servers: [{ port: { number: this.ports[0]!, name: 'http', protocol: 'HTTP' }, bind: address, hosts: ['*'] }],
      },
    });
    return await this.#startProxy({ type: 'router', name, namespace, address, labels });
  }

  async #startProxy(identity: ProxyIdentity): Promise<Proxy> {
    const { name, address } = identity;
    const file = path.join(this.#programs.dir, `${name}.json`);
    writeFileSync(file, JSON.stringify(bootstrap(identity, this.#control)));
    const args = ['-c', file, '--disable-hot-restart', '--concurrency', '1', '--log-level', 'warning'];
    this.#programs.start(name, path.join(programsOf(envoy), 'envoy'), args);
    const proxy: Proxy = {
      name,
      address,
      ask: (question) => ask(address, { port: this.ports[0]!, ...question }, this.#agent),
    };
    await this.#applied(proxy, START_MS);
    this.#proxies.push(proxy);
    return proxy;
  }

  /** Waits until a proxy answers on every port as the last marker says. */
  async #applied(proxy: Proxy, deadlineMs: number): Promise<void> {
    const ports = proxy.name === 'ingress' ? this.ports.slice(0, 1) : this.ports;
    const isApplied = async (): Promise<boolean> => {
      const answers = await Promise.allSettled(ports.map((port) => proxy.ask({ host: SETTLED_HOST, port })));
      return answers.every(
        (each) => each.status === 'fulfilled' && isOfState(each.value, this.#state, this.#range.prefix),
      );
    };
    await this.#programs.until(`${proxy.name} to take what was written`, isApplied, deadlineMs);
  }
}

/** Creates or updates an object. */
async function put(client: Client, kind: AnyKind, object: AnyObject): Promise<void> {
  const patch = { type: 'apply', body: object, force: true } as const;
  await client.patch(kind, object.metadata, patch, { fieldManager: 'mesh' });
}
