// What the embedded cluster answers differently on purpose, each with its reason. docs/reference/embedded.md lists all of it.
import type { Difference } from './compare.ts';
import type { Scenario, Step } from './scenario.ts';

export interface KnownDifference {
  /** The scenario in which it shows; absent for one that may show anywhere. */
  readonly scenario?: string;
  /** A part of the request as it stands in the corpus; absent for every request of the scenario. */
  readonly request?: string;
  /** The part of the answer, `*` for any text. */
  readonly path: string;
  /** Only where the real server says null and the embedded one says nothing. */
  readonly null?: true;
  readonly reason: string;
}

/** In the order of the page: what holds everywhere, then topic by topic. */
export const knownDifferences: readonly KnownDifference[] = [
  {
    path: '*',
    null: true,
    reason:
      'Times and lists that nobody has set are left out where the real server writes null: the same to every client.',
  },
  {
    path: '*columnDefinitions[*].description',
    reason: 'Tables do not repeat the long descriptions of built-in columns: no client shows them.',
  },
  {
    path: '*storageVersionHash',
    reason: 'Discovery has no hash of the storage version: there is one server, and nothing to migrate.',
  },
  ...[
    'paths that do not exist',
    'plain discovery',
    'a definition is accepted and served',
    'several versions of one object',
    'names that another definition has',
    'a definition goes with its objects',
  ].flatMap((scenario) =>
    ['contentType', 'body'].map((path) => ({
      scenario,
      path,
      reason:
        'Paths that are not served get a Status, so that clients can show why; the real server writes the plain text "404 page not found".',
    })),
  ),
  {
    scenario: 'health and version',
    path: 'contentType',
    reason: 'The index of OpenAPI documents is labelled as the JSON that it is.',
  },
  {
    scenario: 'paths that do not exist',
    request: '"POST"',
    path: 'code',
    reason: 'A method that no path outside of the resources allows is refused with 405 before the path is looked at.',
  },
  {
    scenario: 'conflicting writes are refused',
    request: 'nonsense',
    path: 'code',
    reason:
      'A resourceVersion that is not a number is a conflict (409); the real server fails with an internal error (500).',
  },
  {
    scenario: 'conflicting writes are refused',
    request: '"uid"',
    path: 'body.message',
    reason: 'The refusal of another uid does not tell of the keys and codes of a storage that is not there.',
  },
  {
    scenario: 'events of both groups are one',
    path: 'body.*',
    reason: 'Empty parts of an Event that came through the other group are left out or kept as they were stored.',
  },
  {
    scenario: 'big integers survive',
    path: 'body.*message',
    reason: 'A refused number beyond 2^53 is rounded in the text of the refusal; accepted ones are kept exactly.',
  },
  {
    scenario: 'bodies that cannot be read',
    path: 'body.message',
    reason: 'What is wrong with a body that cannot be read is said in words of our own, with the place in the text.',
  },
  {
    scenario: 'bodies that cannot be read',
    request: '"null"',
    path: 'code',
    reason: 'A body that is null is refused as no object (400), not as an object without a name (422).',
  },
  {
    scenario: 'content types that nobody reads',
    path: 'body.message',
    reason: 'What is wrong with a patch that cannot be read is said in words of our own.',
  },
  {
    scenario: 'forms of answers that nobody writes',
    path: 'body.*',
    reason: 'Answers are JSON only (bodies may be YAML or protobuf), so the list of what is served is shorter.',
  },
  {
    scenario: 'forms of answers that nobody writes',
    request: 'application/*',
    path: 'code',
    reason: 'The wildcard application/* accepts JSON, as HTTP says; the real server refuses it.',
  },
  {
    scenario: 'metadata only',
    path: 'code',
    reason: 'A list may be asked for as PartialObjectMetadata too; the real server wants PartialObjectMetadataList.',
  },
  {
    scenario: 'queries that make no sense',
    path: 'body.*message',
    reason: 'Selectors, continue tokens and names that cannot be read are refused in words of our own.',
  },
  {
    scenario: 'numbers in label selectors',
    path: 'body.message',
    reason: 'A selector that compares with something that is no number is refused in words of our own.',
  },
  {
    scenario: 'versions of lists',
    request: 'odd',
    path: 'code',
    reason: 'A resourceVersion that is not a number is a bad request (400); the real server fails with 500.',
  },
  {
    scenario: 'watches that cannot be had',
    request: '"odd"',
    path: 'code',
    reason:
      'A watch from a resourceVersion that is not a number is a bad request (400); the real server fails with 500.',
  },
  {
    scenario: 'watches that cannot be had',
    request: 'a in b',
    path: 'body.message',
    reason: 'A watch with a selector that cannot be read is refused in words of our own.',
  },
  {
    scenario: 'a watch replays what happened since a version',
    request: '/api/v1/watch/',
    path: 'code',
    reason: 'The paths below /watch/, deprecated since Kubernetes 1.11, are not served: use ?watch=true.',
  },
  {
    scenario: 'watches in other forms',
    path: 'body[*].object.*',
    reason: 'A bookmark in a watch of tables has a row without cells and keeps its annotation.',
  },
  {
    scenario: 'pods that are wrong',
    request: 'priorityClassName',
    path: 'code',
    reason: 'Priority classes are stored but not looked up: every pod has priority 0.',
  },
  {
    scenario: 'deployments that are wrong',
    request: '"metadata":{"name":"d"}}',
    path: 'body.*',
    reason: 'A Deployment without a spec is told of more missing fields.',
  },
  {
    scenario: 'services that are wrong',
    path: 'body.*message',
    reason: 'A repeated port is shown as it stands in the API, not as a Go structure.',
  },
  {
    scenario: 'configuration that is wrong',
    request: 'dockerconfigjson',
    path: 'body.*message',
    reason: 'JSON inside of a secret that cannot be read is refused in words of our own.',
  },
  ...['/daemonsets', '/poddisruptionbudgets', '/horizontalpodautoscalers'].map((request) => ({
    scenario: 'workloads of other kinds that are wrong',
    request,
    path: 'body.*',
    reason:
      'Values are shown as they stand in the API, not as Go structures, and an autoscaler may target the core group.',
  })),
  {
    scenario: 'JSON patches that are refused',
    path: 'body.*',
    reason: 'A JSON patch that does not apply is told which operation failed and why; the real server does not say.',
  },
  {
    scenario: 'merge patches',
    path: 'body.*message',
    reason: 'The refusal of a patch quotes the patch; the real server quotes the whole object that it led to.',
  },
  {
    scenario: 'strategic patches that are refused',
    request: 'nameless',
    path: 'code',
    reason:
      'A strategic patch that misses a merge key is invalid (422) with the place of the item; the real server fails with 500.',
  },
  {
    scenario: 'strategic patches that are refused',
    path: 'body.message',
    reason: 'What is wrong with a strategic patch that cannot be read is said in words of our own.',
  },
  {
    scenario: 'unknown fields under Strict',
    path: 'body.*message',
    reason: 'The refusal of unknown fields quotes the patch; the real server quotes the whole object that it led to.',
  },
  ...[
    ['lists with keys', '"containerPort":80},{"containerPort":80}'],
    ['lists with keys', '"image":"j"'],
    ['applies that are refused', '"k":1'],
    ['applies that are refused', '"unknown":1'],
    ['unknown fields under Strict', 'apply-patch'],
    ['unknown fields under Warn', 'apply-patch'],
    ['unknown fields under Ignore', 'apply-patch'],
  ].map(([scenario = '', request = '']) => ({
    scenario,
    request,
    path: 'code',
    reason: 'An applied object that does not fit its schema is a bad request (400); the real server fails with 500.',
  })),
  {
    scenario: 'who made what, after plain writes',
    request: '"managedFields":[]',
    path: 'body["metadata.managedFields"]',
    reason: 'The record of field owners is cleared by [{}], as documented, and not by an empty list.',
  },
  {
    scenario: 'deletions that are refused',
    path: 'body.message',
    reason: 'Options of a deletion that cannot be read are refused in words of our own.',
  },
  {
    scenario: 'scale',
    path: 'body.message',
    reason: 'A body that is no Scale is refused without the names of Go types.',
  },
  {
    scenario: 'status is its own part',
    path: 'code',
    reason: 'Addresses in the status of an Ingress are not checked.',
  },
  ...['tables of workloads', 'what is filled in on creation'].map((scenario) => ({
    scenario,
    request: '/daemonsets',
    path: 'body.*',
    reason: 'The deprecated template generation of a DaemonSet is an annotation from the start, and nobody owns it.',
  })),
  {
    scenario: 'aggregated discovery',
    path: '*.subresources*',
    reason: 'Subresources that need a real container (attach, exec, portforward, proxy, resize) are not served.',
  },
  {
    scenario: 'aggregated discovery',
    request: 'v=v2beta1',
    path: '*',
    reason: 'Discovery in version v2beta1, which kubectl before 1.30 asks for, is still served.',
  },
  ...['a definition is accepted and served', 'definitions that are refused'].map((scenario) => ({
    scenario,
    path: 'body.status.*',
    reason: 'A definition is accepted and served at once, in the answer to its creation.',
  })),
  {
    scenario: 'definitions that are refused',
    path: 'body.*',
    reason:
      'The refusal of a definition names its first cause; consequences in its status, Go structures and the texts of the Go parsers are left out.',
  },
  {
    scenario: 'definitions that are refused',
    path: 'code',
    reason: 'CEL rules are compiled, but not type-checked against the schema before they run.',
  },
  {
    scenario: 'definitions change',
    path: 'body*',
    reason: 'A changed plural is refused for the name of the definition too.',
  },
  {
    scenario: 'objects against their schema',
    path: 'body.message',
    reason: 'Several causes stand in the order of the schema; the order of the real server changes from run to run.',
  },
  {
    scenario: 'unknown fields are pruned, defaults filled in',
    path: 'body.*message',
    reason: 'The refusal of unknown fields in a custom resource quotes the patch, not the whole object.',
  },
  {
    scenario: 'status and scale of custom resources',
    path: 'body.*',
    reason: 'A status of the wrong type is told once, with the full path, and not again for its scale.',
  },
  {
    scenario: 'big integers in custom resources',
    path: 'body.message',
    reason: 'An integer beyond 64 bits is told once.',
  },
  {
    scenario: 'nobody gives away what they do not have',
    path: 'body.message',
    reason: 'The built-in roles know only the kinds that are served, so fewer rights are listed as missing.',
  },
  {
    scenario: 'impersonation',
    path: 'body.message',
    reason: 'Impersonating a group without a user is refused without the names of Go types.',
  },
  ...['access reviews', 'service accounts and their tokens'].map((scenario) => ({
    scenario,
    path: 'body.metadata.*',
    reason: 'Reviews and token requests are answered and forgotten: they have no uid and no field owners.',
  })),
  {
    scenario: 'access reviews',
    path: 'body.status.reason',
    reason: 'Where several bindings allow something, the first by name is told; the real server takes any.',
  },
  {
    scenario: 'a quota of objects',
    path: 'body.*message',
    reason: 'A resource name that does not fit is refused once, for its form.',
  },
  {
    scenario: 'a pod by itself',
    request: '/log',
    path: 'code',
    reason: 'Simulated pods have a log; the test cluster has no kubelet that could answer.',
  },
];

/** Whether a difference is a known one. */
export function isKnown({ name }: Scenario, step: Step, difference: Difference): boolean {
  const request = JSON.stringify(step);
  return knownDifferences.some(
    (known) =>
      (known.scenario === undefined || known.scenario === name) &&
      (known.request === undefined || request.includes(known.request)) &&
      (known.null === undefined || difference.null) &&
      matches(known.path, difference.path),
  );
}

function matches(pattern: string, path: string): boolean {
  const parts = pattern.split('*').map((part) => part.replaceAll(/[.[\]"\\/$^+?(){}|]/g, '\\$&'));
  return new RegExp(`^${parts.join('.*')}$`).test(path);
}
