// The mesh configuration of istiod, with the settings that affect routing.
import { parse } from 'yaml';
import type { Facts } from '../controller/index.ts';
import { defineTable } from '../kube/index.ts';
import type { AnyKind, KubeObject, Ref } from '../kube/index.ts';
import { defineKind } from '../kube/objects.ts';
import { DEFAULT_MESH } from './world.ts';
import type { MeshSettings } from './world.ts';

interface ConfigMap extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
}
export const ConfigMap = defineKind<ConfigMap>('v1', 'ConfigMap', 'configmaps');

/** The ConfigMap of an istiod without a revision. */
export const MESH_CONFIG: Ref = { name: 'istio', namespace: 'istio-system' };

const MeshConfig = defineTable(ConfigMap, {
  namespace: MESH_CONFIG.namespace!,
  fieldSelector: `metadata.name=${MESH_CONFIG.name}`,
  // Without the permission to read it, the default settings apply.
  optional: true,
});

/** The tables that `meshSettingsIn` reads. */
export const meshConfigTables: readonly AnyKind[] = [MeshConfig];

const parsed = new WeakMap<ConfigMap, Partial<MeshSettings>>();

/** The mesh configuration that the facts contain, or the defaults of istiod. */
export function meshSettingsIn(facts: Facts, { clusterDomain }: Pick<MeshSettings, 'clusterDomain'>): MeshSettings {
  const config = facts.get(MeshConfig, MESH_CONFIG);
  let own = config && parsed.get(config);
  if (config !== undefined && own === undefined) parsed.set(config, (own = settingsOf(config)));
  return { ...DEFAULT_MESH, ...own, clusterDomain };
}

/** The settings in the ConfigMap of istiod; none if it can't be parsed, as istiod then keeps its own. */
export function settingsOf({ data }: ConfigMap): Partial<MeshSettings> {
  const { rootNamespace, outboundTrafficPolicy } = meshConfigOf(data?.['mesh']);
  const { mode } = (outboundTrafficPolicy ?? {}) as { readonly mode?: unknown };
  return {
    ...(typeof rootNamespace === 'string' && rootNamespace !== '' && { rootNamespace }),
    ...((mode === 'ALLOW_ANY' || mode === 'REGISTRY_ONLY') && { outboundTrafficPolicy: mode }),
  };
}

function meshConfigOf(text: unknown): { readonly rootNamespace?: unknown; readonly outboundTrafficPolicy?: unknown } {
  try {
    const config: unknown = typeof text === 'string' ? parse(text) : undefined;
    return typeof config === 'object' && config !== null ? config : {};
  } catch {
    return {};
  }
}
