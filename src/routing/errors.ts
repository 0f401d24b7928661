// The messages of all diagnostics. Texts that users of SuperGloo know are kept unchanged.
import type { CODES } from './codes.ts';
import { keyOf } from './model.ts';
import type { Ref } from './model.ts';

type Code = keyof typeof CODES;

export interface Problem {
  readonly code: Code;
  readonly message: string;
}

export interface Diagnostic extends Problem {
  readonly severity: 'error' | 'warning';
  /** `Kind namespace/name`. */
  readonly object: string;
}

/** A problem as a diagnostic about an object. */
export function diagnostic(
  severity: Diagnostic['severity'],
  kind: string,
  { namespace, name }: Ref,
  { code, message }: Problem,
): Diagnostic {
  return { code, severity, object: `${kind} ${namespace}/${name}`, message };
}

const listOf = (items: Iterable<string | number>): string => [...items].join(', ');

/** The first items of a long list. */
function someOf(items: readonly string[]): string {
  const others = items.length - MAX_LISTED;
  return others > 0 ? `${listOf(items.slice(0, MAX_LISTED))} and ${others} more` : listOf(items);
}
const MAX_LISTED = 10;

const of = (code: Code, message: string): Problem => ({ code, message });

/** The annotation in which the injector of AWS stores the ports of pods without an init container. */
export const PORTS_ANNOTATION = 'appmesh.k8s.aws/ports';

/** The environment variables that identify sidecars. */
export const ENV = {
  node: 'APPMESH_VIRTUAL_NODE_NAME',
  arn: 'APPMESH_RESOURCE_ARN',
  ports: 'APPMESH_APP_PORTS',
} as const;

export const problems = {
  noMesh: () =>
    of('MESH_NOT_FOUND', 'there is no Mesh with spec.awsAppMesh in the input: add the one that the rules are for'),
  targetMeshNil: (rule: Ref) =>
    of('TARGET_MESH_NIL', `target mesh cannot be nil: set spec.targetMesh of routing rule ${keyOf(rule)}`),
  targetMeshNotFound: (rule: Ref, target: Ref) =>
    of(
      'TARGET_MESH_NOT_FOUND',
      `no target mesh or mesh group found for ${keyOf(target)}, which routing rule ${keyOf(rule)} names in spec.targetMesh`,
    ),
  meshUnsupported: (rule: Ref, mesh: Ref, type: string | undefined) =>
    of(
      'MESH_UNSUPPORTED',
      `routing rule ${keyOf(rule)} has no effect in mesh ${keyOf(mesh)}, ${
        type === undefined ? 'whose spec names no type' : `which is of type ${type}`
      }: rules are translated to AWS App Mesh only (spec.awsAppMesh)`,
    ),
  meshDuplicate: (name: string, other: Ref) =>
    of(
      'MESH_DUPLICATE',
      `Mesh ${keyOf(other)} is the mesh ${name} at AWS, too, and came first: remove one of them, or give them different names in spec.awsAppMesh.awsName`,
    ),
  groupInvalid: (group: Ref, member: Ref | null, index: number, isGroup: boolean) =>
    of(
      'MESH_GROUP_INVALID',
      `invalid MeshGroup ${keyOf(group)}: spec.meshes[${index}] ${
        member === null
          ? 'is empty'
          : isGroup
            ? `names the group ${keyOf(member)}: a group has only meshes`
            : `names ${keyOf(member)}, and there is no such mesh`
      }`,
    ),

  podNodeFormat: (pod: Ref, variable: string, value: string) =>
    of(
      'POD_VN_ENV_FORMAT',
      `unexpected format for ${variable} env for pod ${keyOf(pod)}: expected mesh/meshName/virtualNode/virtualNodeName, found [${value}]`,
    ),
  podNodeName: (pod: Ref, name: string) =>
    of(
      'NAME_INVALID',
      `the virtual node of pod ${keyOf(pod)} has a name of ${name.length} characters; AWS App Mesh allows 1 to 255`,
    ),
  podPortsParse: (pod: Ref, value: string, where: string = ENV.ports, why = '') =>
    of(
      'POD_PORTS_PARSE',
      `failed to parse [${value}] (value of ${where} ${where === ENV.ports ? 'env' : 'annotation'}) to int array, of pod ${keyOf(pod)}${why}`,
    ),
  podPortsMissing: (pod: Ref) =>
    of('POD_PORTS_MISSING', `could not find ${ENV.ports} env on any initContainer for pod ${pod.name}`),

  upstreamHost: (upstream: Ref, why: string) => of('UPSTREAM_HOST', `upstream ${keyOf(upstream)} has no host: ${why}`),
  upstreamPort: (upstream: Ref, why: string) => of('UPSTREAM_PORT', `upstream ${keyOf(upstream)} has no port: ${why}`),

  nodeNoService: (node: string) =>
    of('VN_NO_SERVICE', `the host of virtual node ${node} is not known: no services match its pods`),
  nodeMultipleServices: (node: string, hosts: readonly string[]) =>
    of(
      'VN_MULTIPLE_SERVICES',
      `the host of virtual node ${node} is not known: multiple services match its pods: ${listOf(hosts)}`,
    ),
  nodePortUnmapped: (node: string, host: string, port: number) =>
    of('VN_PORT_UNMAPPED', `${host}, the host of virtual node ${node}, does not define mapping for port ${port}`),
  nodeDuplicateHost: (nodes: readonly string[], host: string) =>
    of(
      'VN_DUPLICATE_HOST',
      `virtual nodes ${listOf(nodes)} have the same host ${host}: give each a service of its own`,
    ),

  noMatchers: (rule: Ref) =>
    of('RULE_NO_MATCHERS', `routing rule ${keyOf(rule)} has zero matchers. At least one matcher is required`),
  pathMissing: (rule: Ref, index: number) =>
    of(
      'RULE_PATH_MISSING',
      `the path specifier of spec.requestMatchers[${index}] is missing on routing rule ${keyOf(rule)}`,
    ),
  pathInvalid: (rule: Ref, index: number, path: string) =>
    of(
      'RULE_PATH_INVALID',
      `spec.requestMatchers[${index}] of routing rule ${keyOf(rule)} has the path ${JSON.stringify(path)}, which does not begin with a slash`,
    ),
  regexInvalid: (rule: Ref, index: number, regex: string, why: string) =>
    of(
      'RULE_REGEX_INVALID',
      `spec.requestMatchers[${index}] of routing rule ${keyOf(rule)} has the regular expression ${JSON.stringify(regex)}, which Envoy refuses: ${why}`,
    ),
  matcherUnsupported: (rule: Ref, type: string, why = '') =>
    of(
      'RULE_MATCHER_UNSUPPORTED',
      `unsupported matcher type ${type} on routing rule ${keyOf(rule)}${why === '' ? '' : `: ${why}`}`,
    ),
  sourceUnsupported: (rule: Ref, why: string) =>
    of('RULE_SOURCE_UNSUPPORTED', `spec.sourceSelector of routing rule ${keyOf(rule)} is not supported: ${why}`),
  typeUnsupported: (rule: Ref, mesh: string, found: string) =>
    of(
      'RULE_TYPE_UNSUPPORTED',
      `Currently only traffic shifting rules are supported for ${mesh}, found ${found} on routing rule ${keyOf(rule)}`,
    ),

  noDestinations: (rule: Ref) =>
    of(
      'SHIFT_NO_DESTINATIONS',
      `traffic shifting destinations cannot be missing or empty on routing rule ${keyOf(rule)}`,
    ),
  destinationNil: (rule: Ref, index: number) =>
    of('SHIFT_DESTINATION_NIL', `destination ${index} of routing rule ${keyOf(rule)} is nil`),
  destinationKind: (rule: Ref, index: number) =>
    of('SHIFT_DESTINATION_KIND', `destination ${index} of routing rule ${keyOf(rule)} is not an upstream: name one`),
  destinationIgnored: (rule: Ref, index: number) =>
    of(
      'SHIFT_DESTINATION_IGNORED',
      `destinationSpec of destination ${index} of routing rule ${keyOf(rule)} is not used: there are no functions in a mesh`,
    ),
  subsetUnsupported: (rule: Ref, index: number) =>
    of(
      'SHIFT_SUBSET_UNSUPPORTED',
      `destination ${index} of routing rule ${keyOf(rule)} is a subset: give these pods a service, and name its upstream`,
    ),
  upstreamNotFound: (rule: Ref, upstream: Ref) =>
    of(
      'SHIFT_UPSTREAM_NOT_FOUND',
      `destination ${keyOf(upstream)} of routing rule ${keyOf(rule)} does not exist or matches no injected pods`,
    ),
  noVirtualNode: (rule: Ref, host: string) =>
    of(
      'SHIFT_NO_VIRTUAL_NODE',
      `there is no virtual node for host ${host}, a destination of routing rule ${keyOf(rule)}`,
    ),
  multiplePorts: (rule: Ref, ports: readonly number[]) =>
    of(
      'SHIFT_MULTIPLE_PORTS',
      `the destinations of routing rule ${keyOf(rule)} have several ports (${listOf(ports)}): only one port is supported`,
    ),
  zeroWeight: (rule: Ref) =>
    of('SHIFT_ZERO_WEIGHT', `the weights of routing rule ${keyOf(rule)} add up to 0: at least one must be greater`),
  tooManyTargets: (rule: Ref, found: number, most: number) =>
    of(
      'SHIFT_TOO_MANY_TARGETS',
      `routing rule ${keyOf(rule)} has ${found} destinations; AWS App Mesh allows at most ${most}`,
    ),

  selectorNoMatch: (rule: Ref, upstream: Ref) =>
    of(
      'DEST_SELECTOR_NO_MATCH',
      `the destination selector of routing rule ${keyOf(rule)} matches no injected pod: upstream ${keyOf(upstream)} does not exist or has none`,
    ),
  selectorEmpty: (rule: Ref) =>
    of(
      'DEST_SELECTOR_NO_MATCH',
      `the destination selector of routing rule ${keyOf(rule)} matches nothing: it has no effect`,
    ),
  routerMultiplePorts: (host: string, ports: readonly number[]) =>
    of(
      'ROUTER_MULTIPLE_PORTS',
      `rules for host ${host} lead to ports ${listOf(ports)}: a virtual router may have only one listener here`,
    ),
  tooManyRoutes: (host: string, found: number, most: number) =>
    of(
      'ROUTER_TOO_MANY_ROUTES',
      `host ${host} would have ${found} routes that need priorities; AWS App Mesh has priorities for ${most}: use fewer matchers, or plain prefixes only`,
    ),
  routeShadowed: (host: string, match: string, byMatch: string, byRule: Ref) =>
    of(
      'ROUTE_SHADOWED',
      `no request to host ${host} takes the route for ${match}: the one for ${byMatch} of routing rule ${keyOf(byRule)} comes first and fits them all`,
    ),
  routeAmbiguous: (host: string, rules: readonly Ref[], match: string) =>
    of(
      'ROUTE_AMBIGUOUS',
      `several routes of host ${host} are for the same requests (${match}), of routing rules ${someOf(rules.map(keyOf))}: which one wins is not defined`,
    ),
  noCatchAll: (host: string) =>
    of(
      'HOST_NO_CATCH_ALL',
      `no route of host ${host} matches everything: other requests are answered with 404; add a matcher with prefix /`,
    ),
  nameCollision: (what: string, those: readonly string[], name: string) =>
    of('NAME_COLLISION', `${what} ${those.join(' and ')} get the same name ${name}: rename one of them`),
  nameInvalid: (what: string, name: string, why: string) =>
    of('NAME_INVALID', `${what} cannot be named ${JSON.stringify(name)}: ${why}`),
  podSelectorEmpty: (node: string) =>
    of('POD_SELECTOR_EMPTY', `the pods of virtual node ${node} have no label in common: it selects none of them`),

  deletionOfAll: (nodes: number) =>
    of(
      'DELETION_BLOCKED',
      `no pod of the mesh is left, and all ${nodes} virtual nodes would be removed: set spec.awsAppMesh.allowEmpty if that is intended`,
    ),
  deletionOfMany: (going: number, all: number, most: number) =>
    of(
      'DELETION_BLOCKED',
      `${going} of ${all} virtual nodes and services would be removed, more than ${most * 100} %: raise spec.awsAppMesh.maxDeleteFraction if that is intended`,
    ),
  formerMesh: (name: string, count: number) =>
    of(
      'DELETION_BLOCKED',
      `the mesh was named ${name} at AWS before, which still has ${count} resources made for it: set spec.awsAppMesh.allowEmpty if they are to be removed, or change spec.awsAppMesh.awsName back`,
    ),
  resourceForeign: (what: string, owner: string | undefined) =>
    of(
      'RESOURCE_FOREIGN',
      owner === undefined
        ? `${what} was created by somebody else: remove it, or set spec.awsAppMesh.adopt to adopt it`
        : `${what} was made for ${owner}: remove that, or set spec.awsAppMesh.adopt to adopt it`,
    ),
  writeRefused: (what: string, why: string) => of('WRITE_REFUSED', `${what} could not be written: ${why}`),
  kindsMissing: (group: string) =>
    of('BACKEND_MISSING', `the kinds of ${group} are not installed in the cluster: install the App Mesh controller`),
  backendMissing: (why: string) => of('BACKEND_MISSING', why),
  inputMissing: (kinds: readonly string[]) =>
    of(
      'INPUT_MISSING',
      `nothing is written while kinds that rules are resolved with are not installed: ${listOf(kinds)}`,
    ),
} satisfies Record<string, (...args: never[]) => Problem>;
