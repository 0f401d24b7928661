// Versions of Istio: three numbers and, after a dash, the flavour of the image (`1.31.0-distroless`), which is ordered
// like a pre-release.

export interface Version {
  readonly major: number;
  readonly minor: number;
  readonly patch: number;
  readonly preRelease: string;
}

/** Parses a version; a string says why it is invalid. */
export function parseVersion(text: string): Version | string {
  const plain = text.replace(/\+.*$/s, '');
  const dash = plain.indexOf('-');
  const numbers = dash < 0 ? plain : plain.slice(0, dash);
  const [, major, minor, patch] = /^(\d+)\.(\d+)\.(\d+)$/.exec(numbers) ?? [];
  if (major === undefined) return `${numbers} is not in dotted-tri format`;
  return {
    major: Number(major),
    minor: Number(minor),
    patch: Number(patch),
    preRelease: dash < 0 ? '' : plain.slice(dash + 1),
  };
}

/** Negative, zero or positive if `a` is lower than, equal to or higher than `b`. */
export function compareSemver(a: Version, b: Version): number {
  return (
    a.major - b.major ||
    a.minor - b.minor ||
    a.patch - b.patch ||
    comparePreReleases(a.preRelease.split('.'), b.preRelease.split('.'))
  );
}

/** The three numbers. */
export function coreOf({ major, minor, patch }: Version): string {
  return `${major}.${minor}.${patch}`;
}

/** A version for people, without the flavour of its images: `1.31.0-distroless` is `1.31.0`. */
export function coreText(text: string): string {
  const version = parseVersion(text);
  return typeof version === 'string' ? text : coreOf(version);
}

export function versionText(version: Version): string {
  return version.preRelease === '' ? coreOf(version) : `${coreOf(version)}-${version.preRelease}`;
}

// No pre-release is highest; numbers are compared by value and are lower than words; a longer one with the same start
// is higher.
function comparePreReleases(a: readonly string[], b: readonly string[]): number {
  const [none, other] = [a.join('.') === '', b.join('.') === ''];
  if (none || other) return Number(none) - Number(other);
  for (const [index, left] of a.entries()) {
    const right = b[index];
    if (right === undefined) return 1;
    const numeric = [left, right].map((part) => /^\d+$/.test(part));
    if (numeric[0] !== numeric[1]) return numeric[0] === true ? -1 : 1;
    const difference = numeric[0] === true ? Number(left) - Number(right) : left < right ? -1 : left > right ? 1 : 0;
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}
