// The differences between the responses of two servers.
import type { Answer } from './endpoint.ts';

/** The values of both servers at a path; undefined when absent. */
export interface Difference {
  readonly path: string;
  readonly real: unknown;
  readonly embedded: unknown;
}

/** The differences of two responses. With different status codes, the bodies are not compared. */
export function answerDifferences(real: Answer, embedded: Answer): Difference[] {
  if (real.code === embedded.code) return differences(real, embedded);
  return [{ path: 'code', real: codeAndMessage(real), embedded: codeAndMessage(embedded) }];
}

/** The status code, and the message of an error. */
function codeAndMessage({ code, body }: Answer): string {
  const message = (body as { readonly message?: unknown } | null)?.message;
  return typeof message === 'string' ? `${code} ${message}` : String(code);
}

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

/** One line of text. */
export function differenceText({ path, real, embedded }: Difference): string {
  return `${path}: real ${jsonOrNothing(real)}, embedded ${jsonOrNothing(embedded)}`;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function join(path: string, name: string): string {
  if (!/^[\w$-]+$/.test(name)) return `${path}[${JSON.stringify(name)}]`;
  return path === '' ? name : `${path}.${name}`;
}

function jsonOrNothing(value: unknown): string {
  return value === undefined ? 'nothing' : JSON.stringify(value);
}
