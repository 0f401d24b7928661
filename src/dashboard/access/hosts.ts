// Checks of the Host header.

const LOOPBACK: ReadonlySet<string> = new Set(['127.0.0.1', 'localhost', '[::1]']);

/** Whether a Host header names loopback: DNS rebinding can't produce such a name. */
export function isLoopback(host: string | undefined): boolean {
  return LOOPBACK.has(nameIn(host));
}

/** Whether a Host header is one of the names. A name without a port matches all ports. */
export function isNamed(host: string | undefined, names: readonly string[]): boolean {
  const given = (host ?? '').toLowerCase();
  return names.some((name) => name.toLowerCase() === given || name.toLowerCase() === nameIn(given));
}

/** A Host header without its port; empty if it is invalid. */
function nameIn(host: string | undefined): string {
  return /^(\[[\da-f:.]+\]|[^:\s]+)(?::\d+)?$/i.exec(host ?? '')?.[1]?.toLowerCase() ?? '';
}
