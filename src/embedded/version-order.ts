// The preference order of the versions of an API group. Used by discovery and by definitions.

/** GA before beta before alpha, then the higher number: v2, v1, v1beta2, v1beta1, v1alpha1. */
export function compareVersions(left: string, right: string): number {
  const rank = (version: string): readonly number[] => {
    const match = /^v(\d+)(?:(alpha|beta)(\d+))?$/.exec(version);
    if (match === null) return [-1, 0, 0];
    const [, major, stage, minor = '0'] = match;
    return [stage === undefined ? 2 : stage === 'beta' ? 1 : 0, Number(major), Number(minor)];
  };
  const [a, b] = [rank(left), rank(right)];
  for (const [index, value] of a.entries()) {
    if (value !== b[index]) return b[index]! - value;
  }
  return left < right ? -1 : left > right ? 1 : 0;
}
