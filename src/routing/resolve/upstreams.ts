// The host and port of upstreams, the pods that they select, and the upstreams that a rule selects.
import { problems } from '../errors.ts';
import type { Problem } from '../errors.ts';
import type { Labels, Mode, Pod, Ref, Selector, Upstream } from '../model.ts';
import type { Find } from './find.ts';

export type HostAndPort = { readonly host: string; readonly port: number } | { readonly problem: Problem };

/** The host and port by which clients call an upstream. */
export function hostAndPort({ ref, spec }: Upstream, mode: Mode): HostAndPort {
  switch (spec.kind) {
    case 'kube': {
      const { service, port } = spec;
      if (mode === 'strict' && (service.name === '' || service.namespace === '')) {
        return { problem: problems.upstreamHost(ref, 'serviceName or serviceNamespace is empty') };
      }
      if (mode === 'strict' && (port < 1 || port > 65_535)) {
        return { problem: problems.upstreamPort(ref, `servicePort is ${port}`) };
      }
      return { host: `${service.name}.${service.namespace}.svc.cluster.local`, port };
    }
    case 'static':
      if (spec.addr === undefined) return { problem: problems.upstreamHost(ref, 'it has no hosts') };
      if (spec.port === undefined) return { problem: problems.upstreamPort(ref, 'its first host has none') };
      return { host: spec.addr, port: spec.port };
    case 'aws':
    case 'azure':
      return { problem: problems.upstreamHost(ref, `not implemented for type ${spec.kind}`) };
    case 'consul':
    case 'none':
      return { problem: problems.upstreamHost(ref, `unsupported or unknown type ${spec.kind}`) };
  }
}

/** An index of pods by label within a namespace. */
export class PodIndex<T extends { readonly pod: Pod }> {
  readonly #byNamespace = new Map<string, { readonly all: T[]; readonly byLabel: Map<string, T[]> }>();

  constructor(members: readonly T[]) {
    for (const member of members) {
      const { ref, labels } = member.pod;
      let entry = this.#byNamespace.get(ref.namespace);
      if (entry === undefined) this.#byNamespace.set(ref.namespace, (entry = { all: [], byLabel: new Map() }));
      entry.all.push(member);
      for (const [key, value] of Object.entries(labels)) {
        const label = `${key}=${value}`;
        const same = entry.byLabel.get(label);
        if (same === undefined) entry.byLabel.set(label, [member]);
        else same.push(member);
      }
    }
  }

  /** The members of a namespace with all of these labels, in their order. */
  select(namespace: string, selector: Labels): readonly T[] {
    const entry = this.#byNamespace.get(namespace);
    if (entry === undefined) return [];
    const labels = Object.entries(selector);
    let fewest = entry.all;
    for (const [key, value] of labels) {
      const same = entry.byLabel.get(`${key}=${value}`);
      if (same === undefined) return [];
      if (same.length < fewest.length) fewest = same;
    }
    return labels.length < 2 ? fewest : fewest.filter(({ pod }) => hasLabels(pod.labels, labels));
  }
}

/** The pods behind a service. Without a selector it has none; with an empty one, SuperGloo selects all. */
export function podsOf<T extends { readonly pod: Pod }>(
  index: PodIndex<T>,
  namespace: string,
  selector: Labels | undefined,
  mode: Mode,
): readonly T[] {
  if (selector === undefined) return [];
  if (mode === 'strict' && Object.keys(selector).length === 0) return [];
  return index.select(namespace, selector);
}

export type Selected = { readonly upstreams: readonly Upstream[] } | { readonly missing: Ref };

/** The upstreams that a selector matches, among those with pods in the mesh. */
export function selectUpstreams(
  selector: Selector | undefined,
  upstreams: readonly Upstream[],
  find: Find<Upstream>,
): Selected {
  if (selector === undefined) return { upstreams };
  switch (selector.by) {
    case 'upstreams': {
      const missing = selector.refs.find((ref) => find(ref) === undefined);
      return missing === undefined ? { upstreams: selector.refs.map((ref) => find(ref)!) } : { missing };
    }
    case 'labels': {
      const expected = Object.entries(selector.labels);
      return { upstreams: upstreams.filter((each) => hasLabels(labelsOf(each), expected)) };
    }
    case 'services': {
      // Here an empty namespace does not mean any namespace.
      const expected = new Set(selector.refs.map(({ name, namespace }) => `${namespace}/${name}`));
      return {
        upstreams: upstreams.filter(
          ({ spec }) => spec.kind === 'kube' && expected.has(`${spec.service.namespace}/${spec.service.name}`),
        ),
      };
    }
    case 'namespaces': {
      const expected = new Set(selector.namespaces);
      return {
        upstreams: upstreams.filter(({ ref, spec }) =>
          expected.has(spec.kind === 'kube' ? spec.service.namespace : ref.namespace),
        ),
      };
    }
    case 'nothing':
      return { upstreams: [] };
  }
}

/** The labels that label selectors match: those in the pod selector of the service. */
function labelsOf({ spec, labels }: Upstream): Labels {
  return spec.kind === 'kube' ? (spec.selector ?? {}) : labels;
}

function hasLabels(labels: Labels, expected: readonly (readonly [key: string, value: string])[]): boolean {
  return expected.every(([key, value]) => labels[key] === value);
}
