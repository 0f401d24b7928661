// The rules of hosts as a derived map: compiled once for all readers in this process, and again only when one of their
// inputs changes.
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
import { selectedLabels, worldOfFacts } from './world-facts.ts';
import { DEFAULT_MESH } from './world.ts';
import type { MeshSettings } from './world.ts';

/** A host and port, as seen by a source. */
interface HostKey {
  readonly source: Source;
  readonly host: string;
  readonly port: number;
}

type CompiledHosts = Model<DerivedValues<HostKey, CompiledHost>>;

const models = new BoundedMap<string, CompiledHosts>(100);

/** The rules of all hosts. Callers of a namespace share them, unless a Sidecar or DestinationRule selects some. */
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

/** Decides by the observed objects. The owner of the facts subscribes only to the hosts that it asks for. */
export function routerOf(facts: Facts, settings: Partial<MeshSettings> = {}): Router {
  const mesh = { ...DEFAULT_MESH, ...settings };
  const hosts = facts.model(compiledHosts(mesh));
  const rulesFor: Router['rulesFor'] = (source, host, port) =>
    facts.read.get(hosts, { source: relevantSource(facts, source), host: hostOf(host), port })!;
  return { rulesFor, decide: (request) => decide(rulesFor(request.source, request.host, request.port), request) };
}

/** A source with only the labels that affect its rules, sorted. */
function relevantSource(facts: Facts, source: Source): Source {
  if (isGatewaySource(source)) {
    const { gateway, namespace, labels } = source;
    return { gateway, ...(namespace && { namespace }), ...(labels && { labels: sorted(labels) }) };
  }
  const { namespace } = source;
  return { namespace, labels: sorted(selectedLabels(facts, namespace, source.labels)) };
}

function sorted(labels: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1)));
}
