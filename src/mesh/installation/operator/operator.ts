// The IstioOperator: the input for renderers of Istio's manifests. A file format, not a kind of the cluster.

/** A tree of plain values. */
export interface Tree {
  readonly [field: string]: unknown;
}

/** The settings of a component's workload that we use. */
export interface K8s extends Tree {
  readonly resources?: Tree;
  readonly hpaSpec?: Tree & { readonly minReplicas?: number; readonly maxReplicas?: number };
  readonly strategy?: Tree;
  readonly affinity?: Tree;
  readonly env?: readonly { readonly name: string; readonly value: string }[];
  readonly overlays?: readonly Overlay[];
}

/** Patches of a rendered object, applied last. */
export interface Overlay {
  readonly apiVersion?: string;
  readonly kind: string;
  readonly name: string;
  readonly patches: readonly { readonly path: string; readonly value: unknown }[];
}

interface Component {
  readonly enabled: boolean;
  readonly namespace?: string;
  readonly k8s?: K8s;
}

export interface GatewayComponent extends Component {
  readonly name: string;
}

export interface IstioOperator {
  readonly apiVersion: 'install.istio.io/v1alpha1';
  readonly kind: 'IstioOperator';
  readonly metadata: { readonly name: string; readonly namespace: string; readonly labels?: Tree };
  readonly spec: {
    readonly profile: string;
    readonly hub: string;
    readonly tag: string;
    readonly components: {
      readonly base: Component;
      readonly pilot: Component;
      readonly cni: Component;
      readonly ingressGateways: readonly GatewayComponent[];
      readonly egressGateways: readonly GatewayComponent[];
      readonly ztunnel?: Component;
    };
    readonly meshConfig: Tree & { readonly defaultConfig?: Tree; readonly extensionProviders?: readonly Tree[] };
    readonly values: Tree;
  };
}

/**
 * Merges one tree over another: objects are merged, other values are replaced, also by `false`, `0` and `''`; undefined
 * is ignored. The inputs are not modified.
 */
export function overlay<T>(base: T, over: unknown): T {
  if (over === undefined) return base;
  if (!isTree(base) || !isTree(over)) return over as T;
  const merged: Record<string, unknown> = { ...base };
  for (const [field, value] of Object.entries(over)) {
    if (value !== undefined) merged[field] = overlay(merged[field] ?? (isTree(value) ? {} : undefined), value);
  }
  return merged as T;
}

/** The value at a path, such as `values.global.proxy.resources`. */
export function valueAt(tree: unknown, path: string): unknown {
  return path.split('.').reduce<unknown>((value, field) => (isTree(value) ? value[field] : undefined), tree);
}

/** An image such as `docker.io/istio/pilot:1.31.0-distroless`. A value with a slash is a complete reference. */
export function imageOf({ spec }: IstioOperator, path: string, fallback: string): string {
  return imageFrom(spec, path, fallback);
}

/** The same from the values of a chart. */
export function imageFrom(
  { hub, tag, values }: { readonly hub: string; readonly tag: string; readonly values: unknown },
  path: string,
  fallback: string,
): string {
  const name = (valueAt(values, path) as string | undefined) ?? fallback;
  return name.includes('/') ? name : `${hub}/${name}:${tag}`;
}

function isTree(value: unknown): value is Tree {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
