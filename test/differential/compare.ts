// The differences between two JSON values.

import type { Answer } from './endpoint.ts';

/** What each server says at a path; undefined for nothing. */
export interface Difference {
  readonly path: string;
  readonly real: unknown;
  readonly embedded: unknown;
}

/** Where two answers differ. When one server refuses what the other does, their bodies have nothing in common. */
export function answerDifferences(real: Answer, embedded: Answer): Difference[] {
  if (real.code === embedded.code) return differences(real, embedded);
  return [{ path: 'code', real: told(real), embedded: told(embedded) }];
}

/** The code of an answer with the message of a refusal. */
function told({ code, body }: Answer): string {
  const message = (body as { readonly message?: unknown } | null)?.message;
  return typeof message === 'string' ? `${code} ${message}` : String(code);
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
  return [{ path, real, embedded }];
}

/** One line for people. */
export function differenceText({ path, real, embedded }: Difference): string {
  return `${path}: real ${shown(real)}, embedded ${shown(embedded)}`;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function join(path: string, name: string): string {
  if (!/^[\w$-]+$/.test(name)) return `${path}[${JSON.stringify(name)}]`;
  return path === '' ? name : `${path}.${name}`;
}

function shown(value: unknown): string {
  return value === undefined ? 'nothing' : JSON.stringify(value);
}
