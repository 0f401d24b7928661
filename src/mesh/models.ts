// What is known of the mesh, derived once and read by every component: which resource rules, what should be installed, its
// manifests, and how far the installation is. There is one mesh, so every map has one key.
import { Istio } from '../api/istio.ts';
import { defineModel } from '../controller/index.ts';
import type { Facts, Model } from '../controller/index.ts';
import { derive } from '../watchable/index.ts';
import type { DerivedValues } from '../watchable/index.ts';
import { installationOf } from './installation/state.ts';
import type { Installation } from './installation/state.ts';
import { targetOf } from './installation/target.ts';
import type { Target } from './installation/target.ts';
import { renderedManifests } from './installation/render/rendered.ts';
import type { Rendered } from './installation/render/rendered.ts';
import { rulingIstio } from './ruling.ts';
import type { MeshSettings } from './settings.ts';

/** The one key. */
export const MESH = 'mesh';

type OfMesh<V> = Model<DerivedValues<string, V>>;

export interface MeshModels {
  /** The resource that rules, be it that it is being deleted. */
  readonly ruling: OfMesh<Istio>;
  /** What it asks for, or why that can't be. Nothing while it is being deleted. */
  readonly target: OfMesh<Target>;
  readonly manifests: OfMesh<Rendered>;
  /** How far the installation is; nothing before there are manifests. */
  readonly installation: OfMesh<Installation>;
}

export function meshModels(settings: MeshSettings): MeshModels {
  const { renderer, failureBaseDelayMs: initialMs, failureMaxDelayMs: maxMs } = settings;
  const ruling: MeshModels['ruling'] = defineModel((facts) =>
    derive('mesh/ruling', (read, _mesh: string) => rulingIstio(facts(read).list(Istio))),
  );
  const target: MeshModels['target'] = defineModel((facts) =>
    derive('mesh/target', (read, mesh: string) => {
      const istio = read.get(facts(read).model(ruling), mesh);
      if (istio === undefined || istio.metadata.deletionTimestamp !== undefined) return undefined;
      return targetOf(facts(read), istio, settings);
    }),
  );
  const manifests: MeshModels['manifests'] = defineModel((facts) =>
    renderedManifests(
      renderer,
      (read, mesh) => {
        const wanted = read.get(facts(read).model(target), mesh);
        return wanted !== undefined && 'operator' in wanted ? wanted.operator : undefined;
      },
      { retry: { initialMs, maxMs } },
    ),
  );
  const installation: MeshModels['installation'] = defineModel((facts) =>
    derive('mesh/installation', (read, mesh: string) => {
      const all = facts(read);
      const wanted = read.get(all.model(target), mesh);
      const rendered = read.get(all.model(manifests), mesh);
      if (wanted === undefined || !('operator' in wanted) || rendered?.value === undefined) return undefined;
      return installationOf(all, wanted, rendered);
    }),
  );
  return { ruling, target, manifests, installation };
}

/** Reads a model of the mesh. */
export function readMesh<V>(facts: Facts, model: OfMesh<V>): V | undefined {
  return facts.read.get(facts.model(model), MESH);
}
