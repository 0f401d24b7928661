// The differences between two JSON values, one line each.

import type { Answer } from './endpoint.ts';

export interface Difference {
  readonly path: string;
  /** True when the real server says null where the embedded one says nothing. */
  readonly null: boolean;
  readonly text: string;
}

/** Where two answers differ. When one server refuses what the other does, their bodies have nothing in common. */
export function answerDifferences(real: Answer, embedded: Answer): Difference[] {
  if (real.code === embedded.code) return differences(real, embedded);
  const told = ({ code, body }: Answer): string => {
    const message = (body as { readonly message?: unknown } | null)?.message;
    return message === undefined ? String(code) : `${code} ${shown(message)}`;
  };
  return [{ path: 'code', null: false, text: `code: real ${told(real)}, embedded ${told(embedded)}` }];
}

/** Where the second value is not the first. */
function differences(real: unknown, embedded: unknown, path = ''): Difference[] {
  if (Object.is(real, embedded)) return [];
  if (Array.isArray(real) && Array.isArray(embedded)) {
    const length = Math.max(real.length, embedded.length);
    return Array.from({ length }, (_, index) => differences(real[index], embedded[index], `${path}[${index}]`)).flat();
  }
  if (isObject(real) && isObject(embedded)) {
    const names = [...new Set([...Object.keys(real), ...Object.keys(embedded)])];
    return names.flatMap((name) => differences(real[name], embedded[name], join(path, name)));
  }
  const isNull = real === null && embedded === undefined;
  return [{ path, null: isNull, text: `${path}: real ${shown(real)}, embedded ${shown(embedded)}` }];
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function join(path: string, name: string): string {
  if (!/^[\w$-]+$/.test(name)) return `${path}[${JSON.stringify(name)}]`;
  return path === '' ? name : `${path}.${name}`;
}

function shown(value: unknown): string {
  if (value === undefined) return 'nothing';
  const text = JSON.stringify(value);
  return text.length > 400 ? `${text.slice(0, 400)}…` : text;
}
