// A proof as data and as text, for the command line and the dashboard.
import { decisionData, decisionLines, explainLine } from '../../traffic/index.ts';
import type { Decision, DecisionData, Proof, Request } from '../../traffic/index.ts';

/** A proof as data, for programs. */
export interface ProofData {
  /** `NAMESPACE/NAME`. */
  readonly environment: string;
  readonly isolated: Proof['verdict'];
  readonly reason: string;
  readonly message: string;
  readonly counterexample?: {
    readonly request: Request;
    /** The command that explains it. */
    readonly explain: string;
    /** How it is routed without the environment, and with it. */
    readonly before: DecisionData;
    readonly after: DecisionData;
  };
  readonly notes: readonly string[];
}

export function proofData(environment: string, proof: Proof): ProofData {
  const { verdict, reason, message, counterexample, notes } = proof;
  return {
    environment,
    isolated: verdict,
    reason,
    message,
    ...(counterexample && {
      counterexample: {
        request: counterexample.request,
        explain: explainLine(counterexample.request),
        before: decisionData(counterexample.before),
        after: decisionData(counterexample.after),
      },
    }),
    notes,
  };
}

/** The lines of a proof after its message: the counterexample, and notes. */
export function proofLines({ counterexample, notes }: Proof): readonly string[] {
  const outcomeLines = (when: string, decision: Decision): readonly string[] => [
    when,
    ...decisionLines(decision).map((line) => `  ${line}`),
  ];
  const example =
    counterexample === undefined
      ? []
      : [
          ...outcomeLines('without the environment:', counterexample.before),
          ...outcomeLines('with it:', counterexample.after),
          `try: ${explainLine(counterexample.request)}`,
        ];
  return [...example, ...notes.map((note) => `note: ${note}`)];
}
