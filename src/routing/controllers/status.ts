// The status of an object: the fields that users of SuperGloo know (state, reason, reported_by), and conditions.
import { conditionsOf } from '../../controller/index.ts';
import type { PlannedCondition, PlannedEvent, Status } from '../../controller/index.ts';
import type { KubeObject } from '../../kube/index.ts';
import type { Problem } from '../errors.ts';
import type { Mode } from '../model.ts';
import type { Reason } from '../reasons.ts';

const REPORTER = 'appmesh-config-reporter';
const STATE = { pending: 0, accepted: 1, rejected: 2 } as const;
/** The maximum number of problems in a message. */
const MAX_PROBLEMS = 10;

export const CONDITION = {
  accepted: 'Accepted',
  programmed: 'Programmed',
  partial: 'PartiallyTranslated',
  warning: 'Warning',
  ready: 'Ready',
} as const;

/** The findings about an object, from worst to best. */
export interface Findings {
  /** Why it cannot be translated. */
  readonly rejected: readonly Problem[];
  /** Why its translation is not written. */
  readonly notProgrammed: readonly Problem[];
  /** The translation is being written. */
  readonly isPending?: boolean;
  /** The parts that are left out. */
  readonly leftOut?: readonly Problem[];
  /** Things that may not be intended. */
  readonly warnings?: readonly Problem[];
}

/** The status in the form of SuperGloo, whose texts it uses in compat mode. */
export function soloStatus(object: KubeObject, findings: Findings, mode: Mode, fields: object = {}): Status {
  const { rejected, notProgrammed, isPending } = findings;
  const problems = [...rejected, ...notProgrammed];
  const { generation } = object.metadata;
  return {
    state: STATE[problems.length > 0 ? 'rejected' : isPending ? 'pending' : 'accepted'],
    ...(problems.length > 0 && { reason: mode === 'compat' ? listOfErrors(problems) : textOf(problems) }),
    reported_by: REPORTER,
    ...(generation !== undefined && { observedGeneration: generation }),
    ...fields,
    conditions: conditionsFor(findings),
  };
}

/** The status of a rule in one of its meshes. */
export function subresourceStatus(problems: readonly Problem[]): object {
  return {
    state: problems.length === 0 ? STATE.accepted : STATE.rejected,
    ...(problems.length > 0 && { reason: textOf(problems) }),
    reported_by: REPORTER,
  };
}

function conditionsFor({ rejected, notProgrammed, isPending = false, leftOut = [], warnings = [] }: Findings) {
  const isProgrammed = rejected.length === 0 && notProgrammed.length === 0 && !isPending;
  const programmed = isProgrammed
    ? condition(CONDITION.programmed, 'True', 'Programmed', 'everything that follows from it has been written')
    : rejected.length > 0
      ? condition(
          CONDITION.programmed,
          'False',
          'Rejected',
          'it is not written, or only in part: see the condition Accepted',
        )
      : notProgrammed.length > 0
        ? from(CONDITION.programmed, 'False', notProgrammed)
        : condition(CONDITION.programmed, 'False', 'Pending', 'it is being written');
  return [
    rejected.length > 0
      ? from(CONDITION.accepted, 'False', rejected)
      : condition(CONDITION.accepted, 'True', 'Accepted', 'it is translated'),
    programmed,
    ...(leftOut.length > 0 ? [from(CONDITION.partial, 'True', leftOut)] : []),
    ...(warnings.length > 0 ? [from(CONDITION.warning, 'True', warnings)] : []),
    !isProgrammed
      ? rejected.length > 0
        ? from(CONDITION.ready, 'False', rejected)
        : { ...programmed, type: CONDITION.ready }
      : leftOut.length > 0
        ? condition(CONDITION.ready, 'False', CONDITION.partial, `not all of it is in effect: ${textOf(leftOut)}`)
        : condition(CONDITION.ready, 'True', 'Ready', 'all of it is in effect'),
  ];
}

/** Events for conditions that changed. */
export function eventsFor(object: KubeObject, { conditions = [] }: Status): readonly PlannedEvent[] {
  const before = conditionsOf(object);
  return conditions.flatMap(({ type, status, reason, message }): PlannedEvent[] => {
    const same = before.find((each) => each.type === type);
    if (same?.status === status && same.reason === reason && same.message === message) return [];
    if (type === CONDITION.ready) {
      return status === 'True' ? [{ type: 'Normal', reason: 'Programmed', note: message }] : [];
    }
    const isTrouble = (type === CONDITION.partial || type === CONDITION.warning) === (status === 'True');
    const isNews = reason !== 'Pending' && reason !== 'Rejected';
    return isTrouble && isNews ? [{ type: 'Warning', reason: EVENT_REASONS[type] ?? type, note: message }] : [];
  });
}

const EVENT_REASONS: Readonly<Record<string, string>> = {
  [CONDITION.accepted]: 'Rejected',
  [CONDITION.programmed]: 'NotProgrammed',
};

function condition(type: string, status: 'True' | 'False', reason: Reason, message: string): PlannedCondition {
  return { type, status, reason, message };
}

/** A condition whose reason is the code of the first problem. */
function from(type: string, status: 'True' | 'False', problems: readonly Problem[]): PlannedCondition {
  return condition(type, status, problems[0]!.code, textOf(problems));
}

/** The format of the error library that SuperGloo used. */
function listOfErrors(problems: readonly Problem[]): string {
  const head = problems.length === 1 ? '1 error occurred:' : `${problems.length} errors occurred:`;
  return `${head}\n${problems.map(({ message }) => `\t* ${message}\n`).join('')}\n`;
}

function textOf(problems: readonly Problem[]): string {
  const texts = problems.slice(0, MAX_PROBLEMS).map(({ code, message }) => `${code}: ${message}`);
  const others = problems.length - texts.length;
  return [...texts, ...(others > 0 ? [`and ${others} more`] : [])].join('; ');
}
