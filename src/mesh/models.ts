// The derived maps of the mesh, read by every component: the active resource, the target of the installation, its
// manifests, and its state. There is one mesh, so every map has one key.
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
import { activeIstio } from './custom-resource/active-istio.ts';
import type { MeshSettings } from './settings.ts';

/** The one key. */
export const MESH = 'mesh';

type OfMesh<V> = Model<DerivedValues<string, V>>;

export interface MeshModels {
  /** The active resource, even if it is being deleted. */
  readonly active: OfMesh<Istio>;
  /** The target of the installation, or why there is none. Undefined while the resource is being deleted. */
  readonly target: OfMesh<Target>;
  readonly manifests: OfMesh<Rendered>;
  /** The state of the installation; undefined before there are manifests. */
  readonly installation: OfMesh<Installation>;
}

export function meshModels(settings: MeshSettings): MeshModels {
  const { renderer, failureBaseDelayMs: initialMs, failureMaxDelayMs: maxMs } = settings;
  const active: MeshModels['active'] = defineModel((facts) =>
    derive('mesh/active', (read, _mesh: string) => activeIstio(facts(read).list(Istio))),
  );
  const target: MeshModels['target'] = defineModel((facts) =>
    derive('mesh/target', (read, mesh: string) => {
      const istio = read.get(facts(read).model(active), mesh);
      if (istio === undefined || istio.metadata.deletionTimestamp !== undefined) return undefined;
      return targetOf(facts(read), istio, settings);
    }),
  );
  const manifests: MeshModels['manifests'] = defineModel((facts) =>
    renderedManifests(
      renderer,
      (read, mesh) => {
        const found = read.get(facts(read).model(target), mesh);
        return found !== undefined && 'operator' in found ? found.operator : undefined;
      },
      { retry: { initialMs, maxMs } },
    ),
  );
  const installation: MeshModels['installation'] = defineModel((facts) =>
    derive('mesh/installation', (read, mesh: string) => {
      const all = facts(read);
      const found = read.get(all.model(target), mesh);
      const rendered = read.get(all.model(manifests), mesh);
      if (found === undefined || !('operator' in found) || rendered?.value === undefined) return undefined;
      return installationOf(all, found, rendered);
    }),
  );
  return { active, target, manifests, installation };
}

/** Reads a model of the mesh. */
export function readMesh<V>(facts: Facts, model: OfMesh<V>): V | undefined {
  return facts.read.get(facts.model(model), MESH);
}
