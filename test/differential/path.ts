// Paths into JSON: `metadata.labels["a/b"]`, `status.conditions[type=Available].reason`, `items[0]`, `items[*].kind`.

type Part = string | number | { readonly key: string; readonly is: string };

/** The value at a path, or undefined. After `[*]`, a list. */
export function at(value: unknown, path: string): unknown {
  return walk(value, parse(path));
}

/** Deletes the value at a path of plain names, except in a Status: error responses are compared in full. */
export function removeAt(value: unknown, path: string): void {
  const steps = path.split('.');
  const last = steps.pop()!;
  const parent = at(value, steps.join('.')) as Record<string, unknown> | undefined;
  if (parent !== undefined && at(value, 'kind') !== 'Status') delete parent[last];
}

function walk(value: unknown, [part, ...rest]: readonly Part[]): unknown {
  if (part === undefined || value === undefined || value === null) return value;
  if (part === '*') return Array.isArray(value) ? value.map((item) => walk(item, rest)) : undefined;
  if (typeof part === 'object') {
    if (!Array.isArray(value)) return undefined;
    return walk(
      value.find((item: Record<string, unknown>) => String(item[part.key]) === part.is),
      rest,
    );
  }
  return walk((value as Record<string | number, unknown>)[part], rest);
}

function parse(path: string): Part[] {
  const parts: Part[] = [];
  for (const [, name, inside] of path.matchAll(/([^.[\]]+)|\[([^\]]+)\]/g)) {
    if (name !== undefined) parts.push(name);
    else parts.push(bracket(inside!));
  }
  return parts;
}

function bracket(inside: string): Part {
  if (inside === '*') return '*';
  if (/^\d+$/.test(inside)) return Number(inside);
  if (inside.startsWith('"')) return JSON.parse(inside) as string;
  const [key = '', is = ''] = inside.split('=');
  return { key, is };
}
