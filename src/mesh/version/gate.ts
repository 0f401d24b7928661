// Whether a version may be installed over the current one: at most one minor version up, never down, no other major.
import { failure } from '../status/failures.ts';
import type { Failure } from '../status/failures.ts';
import { compareSemver, coreOf, parseVersion, versionText } from './semver.ts';

/** The version that is installed now. */
export interface CurrentVersion {
  /** The version in the annotation of the last installation. */
  readonly recorded?: string;
  /** The image tags of the running istiod pods. */
  readonly running: readonly string[];
}

/** Why the target must not be installed; undefined if it may. If annotation and istiod differ, both must allow it. */
export function versionGate(target: string, current: CurrentVersion): Failure | undefined {
  const targetVersion = parseVersion(target);
  if (typeof targetVersion === 'string') return failure('versionCheck', targetVersion);
  if (current.recorded !== undefined) {
    const recorded = parseVersion(current.recorded);
    if (typeof recorded === 'string') return failure('versionCheck', recorded);
  }
  const running = [...new Set(current.running)];
  const problem = running.map(parseVersion).find((parsed) => typeof parsed === 'string');
  if (problem !== undefined && current.recorded === undefined) {
    // The running version is unknown, and we did not install it.
    return failure('versionCheck', `the tag of the running istiod: ${problem}`);
  }
  for (const text of [...(current.recorded === undefined ? [] : [current.recorded]), ...running]) {
    const installed = parseVersion(text);
    if (typeof installed === 'string') continue;
    const refusal = refusalOf(targetVersion, installed);
    if (refusal !== undefined) return failure('versionUpdate', refusal);
  }
  return undefined;
}

type Version = Exclude<ReturnType<typeof parseVersion>, string>;

function refusalOf(target: Version, current: Version): string | undefined {
  // Another flavour of the same version is not an update.
  if (coreOf(target) === coreOf(current)) return undefined;
  const [to, from] = [versionText(target), versionText(current)];
  if (compareSemver(target, current) < 0) {
    return `target Istio version (${to}) is lower than current version (${from}) - downgrade not supported`;
  }
  if (target.major !== current.major) {
    return `target Istio version (${to}) is different than current Istio version (${from}) - major version upgrade is not supported`;
  }
  if (target.minor - current.minor > 1) {
    return `target Istio version (${to}) is higher than current Istio version (${from}) - the difference between versions exceed one minor version`;
  }
  return undefined;
}
