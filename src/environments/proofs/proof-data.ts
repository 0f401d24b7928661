// A proof as data and in words: for whoever prints it or draws it.
import { decisionData, decisionLines, explainLine } from '../../traffic/index.ts';
import type { Decision, DecisionData, Proof, Request } from '../../traffic/index.ts';

/** What programs get of a proof. */
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
    /** What becomes of it without the environment, and with it. */
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

/** What there is to a proof besides its message: the request for which it does not hold, and notes. */
export function proofLines({ counterexample, notes }: Proof): readonly string[] {
  const became = (when: string, decision: Decision): readonly string[] => [
    when,
    ...decisionLines(decision).map((line) => `  ${line}`),
  ];
  const example =
    counterexample === undefined
      ? []
      : [
          ...became('without the environment:', counterexample.before),
          ...became('with it:', counterexample.after),
          `try: ${explainLine(counterexample.request)}`,
        ];
  return [...example, ...notes.map((note) => `note: ${note}`)];
}
