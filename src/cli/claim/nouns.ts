// The names of claims, targets and classes in messages of the commands.
import { DeploymentTarget, DeploymentTargetClaim, DeploymentTargetClass } from '../../api/targets.ts';
import type { Noun } from '../objects/find.ts';

export const CLAIM: Noun<DeploymentTargetClaim> = {
  kind: DeploymentTargetClaim,
  one: 'claim',
  many: 'claims',
  list: 'offshoot claim list -A',
};

export const TARGET: Noun<DeploymentTarget> = {
  kind: DeploymentTarget,
  one: 'target',
  many: 'targets',
  list: 'offshoot target list -A',
};

export const CLASS: Noun<DeploymentTargetClass> = {
  kind: DeploymentTargetClass,
  one: 'class',
  many: 'classes',
  list: 'offshoot target classes',
};
