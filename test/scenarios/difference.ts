// What an assertion finds wrong with an object. Called by the scenario runner.

/**
 * Where `found` does not hold what is wanted: fields must be there and may have others beside them, lists are the same
 * as a whole except for conditions, which go by their type, and null means that a field is absent. Undefined when all
 * is well.
 */
export function difference(wanted: unknown, found: unknown, at = ''): string | undefined {
  if (wanted === null) return found === undefined || found === null ? undefined : `${at} is there: ${show(found)}`;
  if (Array.isArray(wanted)) {
    if (!Array.isArray(found)) return `${at} is ${show(found)}, not a list`;
    if (at.endsWith('conditions'))
      return first(wanted.map((each) => [`${at}[${each.type}]`, each, byType(found, each)]));
    if (found.length !== wanted.length) {
      return `${at} has ${found.length} entries instead of ${wanted.length}: ${show(found)}`;
    }
    return first(wanted.map((each, i) => [`${at}[${i}]`, each, (found as unknown[])[i]]));
  }
  if (typeof wanted === 'object') {
    const fields = (found ?? {}) as Readonly<Record<string, unknown>>;
    // Where nothing is, none of the fields is that must be absent.
    const isMissing = found === undefined && Object.keys(wanted).length === 0;
    if (isMissing || typeof fields !== 'object' || Array.isArray(fields)) return `${at} is ${show(found)}`;
    return first(Object.entries(wanted).map(([name, each]) => [at ? `${at}.${name}` : name, each, fields[name]]));
  }
  return wanted === found ? undefined : `${at} is ${show(found)} instead of ${show(wanted)}`;
}

function byType(conditions: readonly { type?: string }[], { type }: { type?: string }): unknown {
  return conditions.find((condition) => condition.type === type);
}

function first(parts: readonly (readonly [at: string, wanted: unknown, found: unknown])[]): string | undefined {
  for (const [at, wanted, found] of parts) {
    const wrong = difference(wanted, found, at);
    if (wrong !== undefined) return wrong;
  }
  return undefined;
}

function show(value: unknown): string {
  if (value === undefined) return 'missing';
  return JSON.stringify(value, (_name, each: unknown) => (typeof each === 'bigint' ? String(each) : each));
}
