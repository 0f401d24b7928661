// Compares host names with and without wildcards.

export function isWildcard(host: string): boolean {
  return host.startsWith('*');
}

/** Whether the second host covers every name that the first covers. */
export function within(host: string, other: string): boolean {
  if (!isWildcard(other)) return host === other;
  if (isWildcard(host) && host.length < other.length) return false;
  return (isWildcard(host) ? host.slice(1) : host).endsWith(other.slice(1));
}

/** Whether some name is covered by both. */
export function overlaps(host: string, other: string): boolean {
  return within(host, other) || within(other, host);
}

/** The wildcards that cover a host, the most specific first: `*.b.c`, `*.c`, `*` for `a.b.c`. */
export function wildcardsOver(host: string): readonly string[] {
  const labels = host.split('.');
  const suffixes = labels.slice(1).map((_label, i) => `*.${labels.slice(i + 1).join('.')}`);
  return [...suffixes.filter((each) => each !== host), ...(host === '*' ? [] : ['*'])];
}
