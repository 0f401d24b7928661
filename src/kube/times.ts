// Timestamps as Kubernetes writes them: RFC 3339 in UTC, to the second or, in Leases and Events, to the microsecond.

/** `2026-01-01T00:00:00Z`. */
export function timestamp(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}

/** `2026-01-01T00:00:00.000000Z`. */
export function microTime(ms: number): string {
  return new Date(ms).toISOString().replace('Z', '000Z');
}
