// The requests to explain: those of a file, or the one of the arguments.
import { readFileSync } from 'node:fs';
import { failure, invalidFlag, messageOf } from '../exit.ts';
import { InvalidField, readRequest } from './request.ts';
import type { ParsedRequest, RequestContext } from './request.ts';

export interface RequestFlags {
  readonly header?: readonly string[];
  readonly from?: string;
  readonly gateway?: string;
}

/** A request of a file. */
export interface RequestAt extends ParsedRequest {
  /** `requests.jsonl:3`. */
  readonly place: string;
}

/** The requests of a file or of standard input, one JSON object per line. */
export function requestsOf(file: string, context: RequestContext): readonly RequestAt[] {
  const name = file === '-' ? 'standard input' : file;
  const requests = textOf(file)
    .split('\n')
    .flatMap((line, i) => {
      if (line.trim() === '') return [];
      const place = `${name}:${i + 1}`;
      try {
        return [{ ...readRequest(JSON.parse(line), context), place }];
      } catch (error) {
        if (error instanceof SyntaxError)
          throw failure('InvalidFile', `--requests ${place}: this is not JSON: ${error.message}`);
        if (!(error instanceof InvalidField)) throw error;
        throw failure(
          'InvalidFile',
          `--requests ${place}: ${error.field === '' ? '' : `${error.field}: `}${error.message}`,
        );
      }
    });
  // An empty test file must not pass.
  if (requests.length === 0) throw failure('InvalidFile', `--requests ${name}: there is no request in it`);
  return requests;
}

function textOf(file: string): string {
  try {
    return readFileSync(file === '-' ? 0 : file, 'utf8').replace(/^\uFEFF/, '');
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT';
    throw invalidFlag('--requests', file, isMissing ? 'the file does not exist' : messageOf(error));
  }
}

/** The request of the arguments. The method is optional. */
export function requestOf(
  first: string | undefined,
  second: string | undefined,
  { header = [], from, gateway }: RequestFlags,
  context: RequestContext,
): ParsedRequest {
  const [method, url] = second === undefined ? [undefined, first] : [first, second];
  const fields = {
    ...(method !== undefined && { method }),
    url,
    headers: headersOf(header),
    ...(from !== undefined && { from }),
    ...(gateway !== undefined && { gateway }),
  };
  try {
    return readRequest(fields, context);
  } catch (error) {
    if (!(error instanceof InvalidField)) throw error;
    throw failure('InvalidFlag', `${FLAG_OF[error.field] ?? '-H'}: ${error.message}`);
  }
}

const FLAG_OF: Readonly<Record<string, string>> = {
  method: 'METHOD',
  url: 'URL',
  from: '--from',
  gateway: '--gateway',
};

/** Parses headers as curl does. */
function headersOf(given: readonly string[]): Readonly<Record<string, readonly string[]>> {
  const headers = new Map<string, readonly string[]>();
  for (const each of given) {
    const [, name = '', value = ''] = /^([^:\s]+)\s*:\s*(.*?)\s*$/.exec(each) ?? [];
    if (name === '') throw invalidFlag('-H', each, "it is written 'name: value'");
    headers.set(name.toLowerCase(), [...(headers.get(name.toLowerCase()) ?? []), value]);
  }
  return Object.fromEntries(headers);
}
