// Whether and how a mesh can be upgraded to a version, for `mesh upgrade`.
import type { MeshVersions } from '../describe/tree.ts';
import { compareSemver, coreOf, parseVersion } from '../version/semver.ts';

export interface UpgradeQuestion {
  /** The versions of the mesh, with the target as the offered one. */
  readonly versions: MeshVersions;
  /** This release of Offshoot, and the Istio that it installs. */
  readonly release: { readonly version: string; readonly istioVersion: string };
  /** The name of the renderer, and whether it supports any version. */
  readonly renderer: { readonly name: string; readonly isForAny: boolean };
}

export interface Upgrade {
  readonly target: string;
  /** The running version, if known. */
  readonly from?: string;
  /** What installs the target: this release of Offshoot, or its controllers with other settings. */
  readonly carrier: 'release' | 'renderer';
  /** How to upgrade; if the version is refused, what to do instead. */
  readonly how: string;
  /** The target is already running. */
  readonly isThere?: true;
  /** Why the target must not be installed. */
  readonly refusal?: string;
}

/** Whether and how a mesh can be upgraded to a version. */
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

/** What to do instead of an upgrade that is refused. */
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
