// What to do about an environment that makes no progress, where its messages do not say it: those are contract.
import type { DynamicEnv, StatusError } from '../../api/dynamicenv.ts';
import { conditionsOf } from '../../controller/conditions.ts';

const NO_BASE = /^couldn't find the deployment we need to override/;

/** Advice for an environment, without duplicates. */
export function adviceFor(env: DynamicEnv): readonly string[] {
  const { subsetsStatus = {}, consumersStatus = {} } = env.status ?? {};
  const clones = [
    ...Object.values(subsetsStatus).map(({ deployment, subsetErrors, unreached }) => ({
      status: deployment.status,
      errors: subsetErrors?.deployment,
      isReached: unreached === undefined,
    })),
    // Consumers receive no requests.
    ...Object.values(consumersStatus).map(({ status, errors }) => ({ status, errors, isReached: false })),
  ];
  const baseless = clones.filter(({ errors }) => hasNoBase(errors));
  const routed = conditionsOf(env).find(({ type }) => type === 'Routed');
  const isTaken = routed?.reason === 'Shadowed' && routed.message.includes('taken by environment ');
  return [
    ...new Set([
      ...baseless.map(({ status, isReached }) => (status === 'running' ? baseGone(isReached) : BASE_MISSING)),
      ...(isTaken ? [ANOTHER_KEY] : []),
    ]),
  ];
}

const BASE_MISSING =
  'there is no such Deployment to clone: correct its name and namespace in the environment, or create it';
const ANOTHER_KEY = 'create this environment again with another key, or delete the other one';

function baseGone(isReached: boolean): string {
  const clone = isReached ? 'still serves its requests' : 'is kept';
  return `the base Deployment is gone; the clone ${clone}: create the Deployment again, or delete the environment`;
}

function hasNoBase(errors: readonly StatusError[] = []): boolean {
  return errors.some(({ error }) => NO_BASE.test(error));
}
