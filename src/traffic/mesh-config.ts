// What istiod itself is configured with, as far as it decides about requests.
import { parse } from 'yaml';
import { defineKind } from '../kube/objects.ts';
import type { KubeObject, Ref } from '../kube/index.ts';
import type { MeshSettings } from './world.ts';

interface ConfigMap extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
}
export const ConfigMap = defineKind<ConfigMap>('v1', 'ConfigMap', 'configmaps');

/** The ConfigMap of an istiod without a revision. */
export const MESH_CONFIG: Ref = { name: 'istio', namespace: 'istio-system' };

/** The settings that a ConfigMap of istiod makes; none where it can't be read, as istiod keeps its own then. */
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
