// What is odd about a target and does not keep it from being claimed.
import type { DeploymentTarget } from '../../api/targets.ts';
import type { PlannedCondition, PlannedEvent, View } from '../../controller/index.ts';
import { Secret } from '../objects.ts';
import { condition } from '../status.ts';
import { claimOf } from '../world.ts';

/** Conditions that are there only while there is something to warn of. */
export function targetWarnings(view: View, target: DeploymentTarget, phase: string): PlannedCondition[] {
  const warnings = [secretWarning(view, target), reservationWarning(view, target, phase)];
  return warnings.filter((each) => each !== undefined);
}

/** The Secret is for whoever deploys: a target may be bound before it is there. */
function secretWarning(view: View, { metadata, spec }: DeploymentTarget): PlannedCondition | undefined {
  const { clusterCredentialsSecret: name } = spec.kubernetesCredentials;
  if (name === '' || view.get(Secret, { name, namespace: metadata.namespace }) !== undefined) return undefined;
  return condition('SecretFound', false, 'SecretNotFound', `the Secret ${name} with the credentials does not exist`);
}

/** A target that is reserved for a claim which has or wants another one waits in vain. */
function reservationWarning(view: View, target: DeploymentTarget, phase: string): PlannedCondition | undefined {
  const claim = phase === 'Available' ? claimOf(view, target) : undefined;
  const named = claim?.spec.targetName ?? '';
  if (named === '' || named === target.metadata.name) return undefined;
  const message = `the target is reserved for DeploymentTargetClaim ${claim?.metadata.name}, which has or wants DeploymentTarget ${named}`;
  return condition('Reserved', false, 'ClaimElsewhere', message);
}

/** Warnings that are news. */
export function warningEvents({ status }: DeploymentTarget, warnings: readonly PlannedCondition[]): PlannedEvent[] {
  const isNews = ({ type, message }: PlannedCondition): boolean =>
    !status?.conditions?.some((before) => before.type === type && before.message === message);
  return warnings.filter(isNews).map(({ reason, message }) => ({ type: 'Warning', reason, note: message }));
}
