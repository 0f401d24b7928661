// A problem that would stop environments from working, as data: `offshoot doctor` prints it.
import { keyOf } from '../../kube/index.ts';
import type { KubeObject } from '../../kube/index.ts';

/** `error`: environments get no requests, or those of others. `warning`: some of them. `note`: good to know. */
type Severity = 'error' | 'warning' | 'note';

export interface Finding {
  readonly severity: Severity;
  /** In one word, for programs. */
  readonly reason:
    | 'ServiceSelectsBaseOnly'
    | 'ServiceSelectsClonesOnly'
    | 'PortWithoutProtocol'
    | 'NoHttpPort'
    | 'NoDestinationRule'
    | 'RuleOfCallers'
    | 'NoVirtualService'
    | 'RouteWithoutSubset'
    | 'DefaultVersionNotRouted'
    | 'OtherHost'
    | 'HostInSeveralVirtualServices'
    | 'NoDelegate'
    | 'NotHttp'
    | 'HeaderInUse'
    | 'RefusedByProxy'
    | 'NoSidecar'
    | 'NoMesh'
    | 'LeftBehind'
    | 'Orphaned'
    | 'MayBeOrphaned';
  /** The kind of the object. */
  readonly kind: string;
  /** `namespace/name`. */
  readonly object: string;
  /** What was found. */
  readonly message: string;
  /** What to do. */
  readonly advice: string;
}

/** The object of a finding. */
export function about({ kind, metadata }: KubeObject): Pick<Finding, 'kind' | 'object'> {
  return { kind, object: keyOf(metadata) };
}

const ORDER: readonly Severity[] = ['error', 'warning', 'note'];

/** Without duplicates, worst first, and grouped by object. */
export function sorted(findings: readonly Finding[]): readonly Finding[] {
  const rank = ({ severity }: Finding): number => ORDER.indexOf(severity);
  const name = ({ kind, object }: Finding): string => `${object} ${kind}`;
  const unique = new Map(
    findings
      .toSorted((a, b) => rank(a) - rank(b))
      .map((each) => [`${each.reason} ${name(each)} ${each.message}`, each]),
  );
  return [...unique.values()].sort((a, b) => rank(a) - rank(b) || (name(a) < name(b) ? -1 : name(a) > name(b) ? 1 : 0));
}
