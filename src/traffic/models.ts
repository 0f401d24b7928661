// The rules of hosts as a derived map: compiled once for everybody who reads them in this process, and again only when
// something changes that they were compiled from.
import { defineModel } from '../controller/index.ts';
import type { Facts, Model } from '../controller/index.ts';
import { BoundedMap } from '../kube/bounded-map.ts';
import { derive } from '../watchable/index.ts';
import type { DerivedValues } from '../watchable/index.ts';
import { compileHost } from './compile/index.ts';
import { decide } from './decide.ts';
import { hostOf, isGatewaySource } from './request.ts';
import type { Source } from './request.ts';
import type { Router } from './router.ts';
import type { CompiledHost } from './rules.ts';
import { tellingLabels, worldOfFacts } from './world-facts.ts';
import { DEFAULT_MESH } from './world.ts';
import type { MeshSettings } from './world.ts';

/** A host and port, as a source sees it. */
interface HostKey {
  readonly source: Source;
  readonly host: string;
  readonly port: number;
}

type CompiledHosts = Model<DerivedValues<HostKey, CompiledHost>>;

const models = new BoundedMap<string, CompiledHosts>(100);

/** The rules of all hosts. Callers of a namespace share them, unless a Sidecar or a rule tells them apart. */
function compiledHosts(settings: MeshSettings): CompiledHosts {
  const id = JSON.stringify(settings);
  let model = models.get(id);
  if (model === undefined) {
    model = defineModel((facts) =>
      derive(
        'compiled hosts',
        (read, { source, host, port }: HostKey) => compileHost(worldOfFacts(facts(read), settings), source, host, port),
        { key: (key) => JSON.stringify(key) },
      ),
    );
    models.set(id, model);
  }
  return model;
}

/** Decides by what is observed. What it reads, whoever has the facts subscribes to: to the hosts that it asks for alone. */
export function routerOf(facts: Facts, settings: Partial<MeshSettings> = {}): Router {
  const mesh = { ...DEFAULT_MESH, ...settings };
  const hosts = facts.model(compiledHosts(mesh));
  const rulesFor: Router['rulesFor'] = (source, host, port) =>
    facts.read.get(hosts, { source: toldSource(facts, source), host: hostOf(host), port })!;
  return { rulesFor, decide: (request) => decide(rulesFor(request.source, request.host, request.port), request) };
}

/** A source as far as it makes a difference to the rules, with its labels in order. */
function toldSource(facts: Facts, source: Source): Source {
  if (isGatewaySource(source)) {
    const { gateway, namespace, labels } = source;
    return { gateway, ...(namespace && { namespace }), ...(labels && { labels: sorted(labels) }) };
  }
  const { namespace } = source;
  return { namespace, labels: sorted(tellingLabels(facts, namespace, source.labels)) };
}

function sorted(labels: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1)));
}
