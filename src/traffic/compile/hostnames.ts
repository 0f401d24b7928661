// How names with and without a wildcard relate, and which of them a host falls under.

export function isWildcard(host: string): boolean {
  return host.startsWith('*');
}

/** Whether all that the first stands for, the second stands for too. */
export function within(host: string, other: string): boolean {
  if (!isWildcard(other)) return host === other;
  if (isWildcard(host) && host.length < other.length) return false;
  return (isWildcard(host) ? host.slice(1) : host).endsWith(other.slice(1));
}

/** Whether anything is under both. */
export function overlaps(host: string, other: string): boolean {
  return within(host, other) || within(other, host);
}

/** The wildcards that a host is under, the most specific first: `*.b.c`, `*.c`, `*` for `a.b.c`. */
export function wildcardsOver(host: string): readonly string[] {
  const labels = host.split('.');
  const suffixes = labels.slice(1).map((_label, i) => `*.${labels.slice(i + 1).join('.')}`);
  return [...suffixes.filter((each) => each !== host), ...(host === '*' ? [] : ['*'])];
}
