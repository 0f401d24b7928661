// What the server refuses in the namespace of a target: it is recorded on the namespace, and delays nothing else.
import type { View } from '../../controller/index.ts';
import { annotate, own } from '../../kube/index.ts';
import type { Step } from '../../kube/index.ts';
import { PROBLEM } from '../names.ts';
import { Namespace } from '../objects.ts';
import type { NamespaceContent } from '../objects.ts';
import { isSameRefusal } from '../provisioning/refusal.ts';

/** The writes of contents but for those that the server refused in this reconcile, and why it did. */
export function acceptedContents(
  view: View,
  contents: readonly NamespaceContent[],
): { readonly steps: readonly Step[]; readonly problem: string | undefined } {
  const steps: Step[] = [];
  const problems: string[] = [];
  for (const { kind, object } of contents) {
    const refusal = view.refusal(kind, object.metadata);
    if (refusal === undefined) steps.push(own(kind, object));
    else problems.push(`${kind.kind} ${object.metadata.name}: ${refusal}`);
  }
  return { steps, problem: problems.length === 0 ? undefined : problems.join('; ') };
}

/** Records a problem on a namespace, or that there is none, with other annotations. */
export function recordProblem(
  namespace: Namespace,
  problem: string | undefined,
  others: Record<string, string> = {},
): Step {
  const before = namespace.metadata.annotations?.[PROBLEM];
  const isRecorded = problem !== undefined && isSameRefusal(before, problem);
  return annotate(Namespace, namespace, { ...others, [PROBLEM]: isRecorded ? before : problem });
}
