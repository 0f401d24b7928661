// The time format of Leases and Events: RFC 3339 with microseconds.

/** `2026-01-01T00:00:00.000000Z`. */
export function microTime(ms: number): string {
  return new Date(ms).toISOString().replace('Z', '000Z');
}
