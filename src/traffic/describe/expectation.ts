// Compares a decision with an expected result: `offshoot explain --requests` as a test of a mesh.
import type { Decision } from '../decide.ts';
import { decisionLines } from './decision-text.ts';

export interface Expectation {
  /** `NAMESPACE/NAME` or `NAMESPACE/KIND/NAME`: the only workload that may get the request. */
  readonly workload?: string;
  /** The only subset that may get the request. */
  readonly subset?: string;
  /** The status that the proxy answers with; null if a workload must answer. */
  readonly status?: number | null;
}

/** The differences between a decision and the expectation, one line each; empty if there are none. */
export function differences({ workload, subset, status }: Expectation, decision: Decision): string[] {
  const destinations = decision.kind === 'route' ? decision.destinations : [];
  const workloads = [...new Set(destinations.flatMap((each) => each.workloads))];
  const subsets = [...new Set(destinations.map((each) => each.subset ?? 'none'))];
  const found = decision.kind === 'passthrough' ? null : (decision.status ?? null);
  const isOther = (each: string): boolean => each !== workload && shortKey(each) !== workload;
  return [
    ...(workload !== undefined && (workloads.length === 0 || workloads.some(isOther))
      ? [`workload: expected ${workload}, found ${workloads.join(', ') || otherwiseText(decision)}`]
      : []),
    ...(subset !== undefined && (subsets.length === 0 || subsets.some((each) => each !== subset))
      ? [`subset: expected ${subset}, found ${subsets.join(', ') || otherwiseText(decision)}`]
      : []),
    ...(status !== undefined && status !== found
      ? [
          `status: expected ${statusText(status)}, found ${decision.kind === 'passthrough' ? PASSED : statusText(found)}`,
        ]
      : []),
  ];
}

/** A workload without its kind. */
function shortKey(key: string): string {
  const [namespace, , ...name] = key.split('/');
  return `${namespace}/${name.join('/')}`;
}

function otherwiseText(decision: Decision): string {
  return `none: it ${decisionLines(decision)[0]!}`;
}

const PASSED = 'none: the proxy passes the request on without an answer of its own';

function statusText(status: number | null): string {
  return status === null ? 'none of the proxy (the workload answers)' : String(status);
}
