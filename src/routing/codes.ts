// Every code of a diagnostic, with its meaning and advice. Conditions use the codes as their reasons.
import type { ReasonEntry } from '../controller/index.ts';

export const CODES = {
  OBJECT_INVALID: {
    meaning: 'an object is invalid: a field is unknown, has the wrong type, or is mutually exclusive with another',
    advice: 'Correct the field that the message names; the reference page of the kind lists all fields.',
  },
  OBJECT_DUPLICATE: {
    meaning: 'two objects have the same name: of pods and upstreams both are used, of others the later one',
    advice: 'Remove one of the two.',
  },
  KIND_UNKNOWN: {
    meaning: 'objects of this kind are ignored; reported for the first one',
    advice: 'Leave them out of the input. Nothing else depends on it.',
  },
  MESH_NOT_FOUND: {
    meaning: 'the input has no mesh of AWS App Mesh',
    advice: 'Add a Mesh with spec.awsAppMesh to the input.',
  },
  TARGET_MESH_NIL: {
    meaning: 'a rule names no mesh',
    advice: 'Set spec.targetMesh of the rule.',
  },
  TARGET_MESH_NOT_FOUND: {
    meaning: 'a rule names neither a mesh nor a group that exists',
    advice: 'Create the mesh or group, or correct the name in spec.targetMesh.',
  },
  MESH_UNSUPPORTED: {
    meaning: 'a rule is for a mesh of a type that is not supported',
    advice: 'Point the rule at a mesh with spec.awsAppMesh.',
  },
  MESH_DUPLICATE: {
    meaning: 'two Mesh objects are the same mesh at AWS; the older one is used',
    advice: 'Remove one Mesh, or give them different names in spec.awsAppMesh.awsName.',
  },
  MESH_GROUP_INVALID: {
    meaning: 'a group has a member that is not a mesh; rules for the group apply only to the members before it',
    advice: 'Correct the member that the message names: a group may only have meshes as members.',
  },
  POD_VN_ENV_FORMAT: {
    meaning: 'the variable that names the virtual node of a pod has an unexpected format',
    advice: 'Write APPMESH_VIRTUAL_NODE_NAME as mesh/MESH/virtualNode/NODE.',
  },
  POD_PORTS_PARSE: {
    meaning: 'the ports of a pod are not a list of ports',
    advice: 'Write the ports as numbers from 1 to 65535, separated by commas.',
  },
  POD_PORTS_MISSING: {
    meaning: 'a pod does not declare its ports',
    advice: 'Set APPMESH_APP_PORTS on an init container, or the annotation appmesh.k8s.aws/ports.',
  },
  UPSTREAM_HOST: {
    meaning: 'an upstream has no host',
    advice: 'Set the service name and namespace of the upstream, or a host.',
  },
  UPSTREAM_PORT: {
    meaning: 'an upstream has no port',
    advice: 'Set servicePort of the upstream, or the port of its host.',
  },
  VN_NO_SERVICE: {
    meaning: 'no service selects the pods of a virtual node',
    advice: 'Create a Service and an Upstream that select these pods.',
  },
  VN_MULTIPLE_SERVICES: {
    meaning: 'several services select the pods of a virtual node, so its host is ambiguous',
    advice:
      'App Mesh needs one host for each virtual node. Change a Service that selects all versions so that it selects only one, and use rules instead.',
  },
  VN_PORT_UNMAPPED: {
    meaning: 'a port of a pod is not a port of its service',
    advice:
      'Add the port to the Service. If the Service maps 80 to 8080 and the pod says 8080, add the Services to the input, too.',
  },
  VN_DUPLICATE_HOST: {
    meaning: 'several virtual nodes have the same host',
    advice: 'Give each virtual node a Service of its own.',
  },
  RULE_NO_MATCHERS: {
    meaning: 'a rule has no request matcher',
    advice: 'Add a matcher to spec.requestMatchers, such as the prefix /.',
  },
  RULE_PATH_MISSING: {
    meaning: 'a request matcher has no path',
    advice: 'Give the matcher a prefix, exact or regex.',
  },
  RULE_PATH_INVALID: {
    meaning: 'a path does not begin with a slash',
    advice: 'Begin the path with /.',
  },
  RULE_REGEX_INVALID: {
    meaning: 'a regular expression is not accepted by Envoy (RE2 syntax)',
    advice: 'Write it in RE2 syntax: no lookaheads and no backreferences.',
  },
  RULE_MATCHER_UNSUPPORTED: {
    meaning: 'the mesh does not support this matcher',
    advice: 'Use a matcher that the back end can express; its table lists them.',
  },
  RULE_SOURCE_UNSUPPORTED: {
    meaning: 'the mesh cannot match requests by their source',
    advice: 'Remove spec.sourceSelector.',
  },
  RULE_TYPE_UNSUPPORTED: {
    meaning: 'the mesh does not support this rule',
    advice: 'Use trafficShifting; the tables of back ends list what each can do.',
  },
  SHIFT_NO_DESTINATIONS: {
    meaning: 'a rule has no destinations',
    advice: 'Add a destination to spec.spec.trafficShifting.',
  },
  SHIFT_DESTINATION_NIL: {
    meaning: 'a destination is empty',
    advice: 'Name an upstream in the destination, or remove it.',
  },
  SHIFT_DESTINATION_KIND: {
    meaning: 'a destination is not an upstream',
    advice: 'Name an Upstream.',
  },
  SHIFT_DESTINATION_IGNORED: {
    meaning: 'a part of a destination is not used',
    advice: 'Remove destinationSpec: there are no functions in a mesh.',
  },
  SHIFT_SUBSET_UNSUPPORTED: {
    meaning: 'a destination is only a part of the pods of an upstream',
    advice: 'Give these pods a Service, and name its Upstream.',
  },
  SHIFT_UPSTREAM_NOT_FOUND: {
    meaning: 'a destination does not exist, or has no pods in the mesh',
    advice: 'Create the Upstream. If it exists, none of its pods has a sidecar of this mesh.',
  },
  SHIFT_NO_VIRTUAL_NODE: {
    meaning: 'a destination has no virtual node',
    advice: 'Check that pods of the destination run in this mesh.',
  },
  SHIFT_MULTIPLE_PORTS: {
    meaning: 'the destinations of a rule have different ports',
    advice: 'Use the same port for all destinations of the rule.',
  },
  SHIFT_ZERO_WEIGHT: {
    meaning: 'all weights of a rule are zero',
    advice: 'Give at least one destination a weight above zero.',
  },
  SHIFT_TOO_MANY_TARGETS: {
    meaning: 'a rule has more destinations than the mesh allows',
    advice: 'Use fewer destinations, at most ten for App Mesh.',
  },
  DEST_SELECTOR_NO_MATCH: {
    meaning: 'a rule selects destinations that do not exist',
    advice: 'Correct spec.destinationSelector, or create what it selects.',
  },
  ROUTER_MULTIPLE_PORTS: {
    meaning: 'rules for one host lead to different ports',
    advice: 'Use the same port in all rules for the host.',
  },
  ROUTER_TOO_MANY_ROUTES: {
    meaning: 'a host has more routes than the mesh can prioritize; the rule that adds the last ones is skipped',
    advice: 'Use fewer matchers, or plain prefixes only.',
  },
  ROUTE_SHADOWED: {
    meaning: 'no request reaches a route: an earlier regular expression matches all of its requests',
    advice: 'Narrow the regular expression, or remove the route.',
  },
  ROUTE_AMBIGUOUS: {
    meaning: 'two routes of a host are for the same requests',
    advice: 'Change the matchers of one of the rules: which route wins is not defined.',
  },
  HOST_NO_CATCH_ALL: {
    meaning: 'requests to a host that no route matches are answered with 404',
    advice: 'Add a matcher with the prefix / for the remaining requests.',
  },
  NAME_COLLISION: {
    meaning: 'two hosts or virtual nodes get the same name',
    advice: 'Rename one of them.',
  },
  NAME_INVALID: {
    meaning: 'the mesh does not allow a name',
    advice: 'Use a shorter name, with the characters that the message allows.',
  },
  POD_SELECTOR_EMPTY: {
    meaning: 'the pods of a virtual node have no label in common',
    advice: 'Give the pods a label in common.',
  },
  DELETION_BLOCKED: {
    meaning: 'an implausibly large part of a mesh would be deleted; nothing is deleted',
    advice: 'If the deletion is intended, set spec.awsAppMesh.allowEmpty, or raise spec.awsAppMesh.maxDeleteFraction.',
  },
  RESOURCE_FOREIGN: {
    meaning: 'somebody else created a resource under a name that a mesh needs; it is not changed',
    advice: 'Rename the resource, or take it over with spec.awsAppMesh.adopt: true.',
  },
  WRITE_REFUSED: {
    meaning: 'the cluster or AWS rejected a write',
    advice: "The message shows the server's error: check permissions, quotas and limits. The write is retried.",
  },
  BACKEND_MISSING: {
    meaning: 'a mesh cannot be written: kinds are not installed, or a package or credentials are missing',
    advice: 'Install what the message names.',
  },
  INPUT_MISSING: {
    meaning: 'a kind that translations need is not installed; nothing is written',
    advice: 'Install the definitions: "offshoot crds | kubectl apply -f -".',
  },
} as const satisfies Readonly<Record<string, ReasonEntry>>;
