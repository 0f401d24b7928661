// Whether a mesh could be upgraded to a version, and what would bring it: for `mesh upgrade`.
import type { MeshVersions } from '../describe/tree.ts';
import { compareSemver, coreOf, parseVersion } from '../version/semver.ts';

export interface UpgradeQuestion {
  /** The versions that there are, with the target as the one that is offered. */
  readonly versions: MeshVersions;
  /** This release of Offshoot, and the Istio that it installs. */
  readonly release: { readonly version: string; readonly istioVersion: string };
  /** What makes the manifests: its name, and whether it does so for any version. */
  readonly renderer: { readonly name: string; readonly isForAny: boolean };
}

export interface Upgrade {
  readonly target: string;
  /** What runs now, as far as known. */
  readonly from?: string;
  /** What brings the target: this release of Offshoot, or its controllers when told so. */
  readonly carrier: 'release' | 'renderer';
  /** How that is done; of a version that is refused, what can be done instead. */
  readonly how: string;
  /** It runs already. */
  readonly isThere?: true;
  /** Why it may not be installed. */
  readonly refusal?: string;
}

/** Answers whether and how a mesh gets to a version. */
export function planUpgrade({ versions, release, renderer }: UpgradeQuestion): Upgrade {
  const { running, recorded, offered: target, refusal } = versions;
  const from = running ?? recorded;
  const isOfRelease = sameVersion(target, release.istioVersion);
  const upgrade = {
    target,
    ...(from !== undefined && { from }),
    carrier: isOfRelease ? ('release' as const) : ('renderer' as const),
  };
  if (refusal !== undefined) return { ...upgrade, how: instead(target, from ?? ''), refusal };
  if (running !== undefined && sameVersion(target, running)) {
    return { ...upgrade, how: `Istio ${running} is already running: there is nothing to upgrade.`, isThere: true };
  }
  return { ...upgrade, how: isOfRelease ? ofRelease(release) : ofRenderer(target, release, renderer) };
}

/** What can be done about a version that is refused. */
function instead(target: string, from: string): string {
  const [to, current] = [parseVersion(target), parseVersion(from)];
  if (typeof to === 'string' || typeof current === 'string')
    return 'Check which version is running: offshoot mesh status.';
  if (compareSemver(to, current) < 0) return 'A mesh is never downgraded.';
  if (to.major !== current.major) return 'Another major version needs an installation of its own.';
  return `Upgrade one minor version at a time: to ${current.major}.${current.minor + 1} first.`;
}

function ofRelease({ version, istioVersion }: UpgradeQuestion['release']): string {
  return `Offshoot ${version}, this release, carries Istio ${istioVersion}: its controllers upgrade the mesh once they run.`;
}

function ofRenderer(
  target: string,
  release: UpgradeQuestion['release'],
  renderer: UpgradeQuestion['renderer'],
): string {
  const carried = `Offshoot ${release.version}, this release, carries Istio ${release.istioVersion}.`;
  const start = `offshoot run --controllers mesh --istio-version ${target}`;
  const made = renderer.isForAny
    ? `The ${renderer.name} renderer makes manifests of any version: "${start} --istio-renderer built-in" installs ${target} as a trial.`
    : `With an istioctl of version ${target}, "${start} --istioctl FILE" installs it as a trial.`;
  return `${carried} A release that carries ${target} upgrades the mesh by itself. ${made}`;
}

function sameVersion(one: string, other: string): boolean {
  const [a, b] = [parseVersion(one), parseVersion(other)];
  return typeof a !== 'string' && typeof b !== 'string' && coreOf(a) === coreOf(b);
}
