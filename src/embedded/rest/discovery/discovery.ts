// Discovery of groups, versions and resources, unaggregated and aggregated. Made from the registry on every request.
import { createHash } from 'node:crypto';
import { apiVersionOf } from '../../registry.ts';
import type { Registry } from '../../registry.ts';
import type { Resource } from '../../resource.ts';
import { compareVersions } from '../../version-order.ts';

interface Group {
  readonly name: string;
  /** Preferred version first. */
  readonly versions: readonly { readonly version: string; readonly resources: readonly Resource[] }[];
}

/** The groups in discovery order. */
function groupsOf(registry: Registry): readonly Group[] {
  const groups = new Map<string, Map<string, Resource[]>>();
  for (const resource of registry.all()) {
    const versions = groups.get(resource.group) ?? new Map<string, Resource[]>();
    groups.set(resource.group, versions);
    versions.set(resource.version, [...(versions.get(resource.version) ?? []), resource]);
  }
  return [...groups].map(([name, versions]) => ({
    name,
    versions: [...versions]
      .sort(([left], [right]) => compareVersions(left, right))
      .map(([version, resources]) => ({ version, resources })),
  }));
}

/** `GET /api`. */
export function coreVersions(host: string): object {
  return {
    kind: 'APIVersions',
    versions: ['v1'],
    serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress: host }],
  };
}

/** `GET /apis`. */
export function groupList(registry: Registry): object {
  const groups = groupsOf(registry).filter(({ name }) => name !== '');
  return { kind: 'APIGroupList', apiVersion: 'v1', groups: groups.map(groupEntry) };
}

/** `GET /apis/{group}`; undefined for an unknown group. */
export function groupDocument(registry: Registry, name: string): object | undefined {
  const group = groupsOf(registry).find((candidate) => candidate.name === name && name !== '');
  return group && { kind: 'APIGroup', apiVersion: 'v1', ...groupEntry(group) };
}

function groupEntry(group: Group): object {
  const versions = group.versions.map(({ version }) => ({ groupVersion: `${group.name}/${version}`, version }));
  return { name: group.name, versions, preferredVersion: versions[0] };
}

/** Changes when objects are stored in another version. */
function storageVersionHash({ group, version, kind, stored }: Resource): string {
  const text = `${stored?.group ?? group}/${stored?.version ?? version}/${kind}`;
  return createHash('sha256').update(text).digest().subarray(0, 8).toString('base64');
}

/** `GET /api/v1` and `GET /apis/{group}/{version}`; undefined for an unknown version. */
export function resourceList(registry: Registry, group: string, version: string): object | undefined {
  const resources = registry.all().filter((resource) => resource.group === group && resource.version === version);
  if (resources.length === 0) return undefined;
  return {
    kind: 'APIResourceList',
    apiVersion: 'v1',
    groupVersion: apiVersionOf({ group, version }),
    resources: resources.flatMap((resource) => [
      {
        name: resource.plural,
        singularName: resource.singular,
        namespaced: resource.namespaced,
        kind: resource.kind,
        verbs: resource.verbs,
        ...(resource.shortNames.length > 0 && { shortNames: resource.shortNames }),
        ...(resource.categories.length > 0 && { categories: resource.categories }),
        ...(resource.verbs.includes('get') && { storageVersionHash: storageVersionHash(resource) }),
      },
      ...subresourcesOf(resource).map(({ name, verbs, group: ofGroup, version: ofVersion, kind }) => ({
        name: `${resource.plural}/${name}`,
        singularName: '',
        namespaced: resource.namespaced,
        ...(ofGroup !== resource.group && { group: ofGroup, version: ofVersion }),
        kind,
        verbs,
      })),
    ]),
  };
}

interface Subresource {
  readonly name: string;
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly verbs: readonly string[];
}

const foreignKinds: Readonly<Record<string, Omit<Subresource, 'name'>>> = {
  token: { group: 'authentication.k8s.io', version: 'v1', kind: 'TokenRequest', verbs: ['create'] },
  eviction: { group: 'policy', version: 'v1', kind: 'Eviction', verbs: ['create'] },
  binding: { group: '', version: 'v1', kind: 'Binding', verbs: ['create'] },
  scale: { group: 'autoscaling', version: 'v1', kind: 'Scale', verbs: ['get', 'patch', 'update'] },
};
const ownVerbs: Readonly<Record<string, readonly string[]>> = { log: ['get'], finalize: ['update'] };

function subresourcesOf(resource: Resource): Subresource[] {
  const names = [
    ...resource.subresources,
    ...(resource.status ? ['status'] : []),
    ...(resource.scale === undefined ? [] : ['scale']),
  ];
  const { group, version, kind } = resource;
  // Custom resources keep this order, built-in ones are sorted by name.
  return (resource.custom ? names : names.sort()).map((name) => ({
    name,
    ...(foreignKinds[name] ?? { group, version, kind, verbs: ownVerbs[name] ?? ['get', 'patch', 'update'] }),
  }));
}

/** Aggregated discovery of `/api` (the core group) or `/apis` (all others). */
export function aggregated(registry: Registry, core: boolean, version: string): object {
  return {
    kind: 'APIGroupDiscoveryList',
    apiVersion: `apidiscovery.k8s.io/${version}`,
    metadata: {},
    items: groupsOf(registry)
      .filter(({ name }) => (name === '') === core)
      .map((group) => ({
        metadata: { ...(group.name !== '' && { name: group.name }), creationTimestamp: null },
        versions: group.versions.map(({ version: served, resources }) => ({
          version: served,
          freshness: 'Current',
          resources: resources.map(aggregatedResource),
        })),
      })),
  };
}

function aggregatedResource(resource: Resource): object {
  const { group, version, kind } = resource;
  const subresources = subresourcesOf(resource).map((sub) => ({
    subresource: sub.name,
    responseKind: { group: sub.group, version: sub.group === '' ? '' : sub.version, kind: sub.kind },
    verbs: sub.verbs,
  }));
  return {
    resource: resource.plural,
    // In the core group the version is empty.
    responseKind: { group, version: group === '' ? '' : version, kind },
    scope: resource.namespaced ? 'Namespaced' : 'Cluster',
    singularResource: resource.singular,
    verbs: resource.verbs,
    ...(resource.shortNames.length > 0 && { shortNames: resource.shortNames }),
    ...(resource.categories.length > 0 && { categories: resource.categories }),
    ...(subresources.length > 0 && { subresources }),
  };
}
