// Compares an object with an assertion. Called by the scenario runner.

/**
 * The first difference between an object and the expected fields; undefined if there is none. Further fields are
 * allowed, lists must be equal as a whole except for conditions, which are matched by type, and null means that a field
 * is absent.
 */
export function difference(expected: unknown, found: unknown, at = ''): string | undefined {
  if (expected === null) return found === undefined || found === null ? undefined : `${at} is there: ${show(found)}`;
  if (Array.isArray(expected)) {
    if (!Array.isArray(found)) return `${at} is ${show(found)}, not a list`;
    if (at.endsWith('conditions'))
      return first(expected.map((each) => [`${at}[${each.type}]`, each, byType(found, each)]));
    if (found.length !== expected.length) {
      return `${at} has ${found.length} entries instead of ${expected.length}: ${show(found)}`;
    }
    return first(expected.map((each, i) => [`${at}[${i}]`, each, (found as unknown[])[i]]));
  }
  if (typeof expected === 'object') {
    const fields = (found ?? {}) as Readonly<Record<string, unknown>>;
    // If all expected fields are null, the whole object may be missing.
    const isMissing = found === undefined && Object.keys(expected).length === 0;
    if (isMissing || typeof fields !== 'object' || Array.isArray(fields)) return `${at} is ${show(found)}`;
    return first(Object.entries(expected).map(([name, each]) => [at ? `${at}.${name}` : name, each, fields[name]]));
  }
  return expected === found ? undefined : `${at} is ${show(found)} instead of ${show(expected)}`;
}

function byType(conditions: readonly { type?: string }[], { type }: { type?: string }): unknown {
  return conditions.find((condition) => condition.type === type);
}

function first(parts: readonly (readonly [at: string, expected: unknown, found: unknown])[]): string | undefined {
  for (const [at, expected, found] of parts) {
    const wrong = difference(expected, found, at);
    if (wrong !== undefined) return wrong;
  }
  return undefined;
}

function show(value: unknown): string {
  if (value === undefined) return 'missing';
  return JSON.stringify(value, (_name, each: unknown) => (typeof each === 'bigint' ? String(each) : each));
}
