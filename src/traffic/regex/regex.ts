// Regular expressions as in Envoy: RE2 syntax over bytes, matched against the whole value.
import { RE2JS } from 're2js';
import { BoundedMap } from '../../kube/bounded-map.ts';
import { baggageKey, baggageTest } from '../baggage.ts';
import { sizeInProxy } from './size.ts';
import { refusedSyntax } from './syntax.ts';

/** The limits of Istio: 1024 bytes, and Envoy is configured to refuse programs of more than 32,768 instructions. */
const MAX_BYTES = 1_024;
/** Slightly less than 32,768, as each program has a few instructions to begin and to end with. */
const MAX_INSTRUCTIONS = 32_700;

/** Plans use the same few expressions again and again, so results are cached, with the programs of small ones. */
const cache = new BoundedMap<string, Analysis>(1_000);
const SMALL = 200;
/** Every environment with a key has an expression for the baggage: these take little memory, and need no RE2. */
const keyCache = new BoundedMap<string, Analysis>(20_000);

interface Analysis {
  readonly problem?: string;
  readonly fits?: (value: string) => boolean;
}

/** Why Envoy would refuse a regular expression. One such route stops every update of its port, for every service. */
export function regexProblem(regex: string): string | undefined {
  const bytes = Buffer.byteLength(regex);
  if (bytes > MAX_BYTES) return `${bytes} bytes are more than ${MAX_BYTES}`;
  return analyze(regex).problem;
}

/** Whether a value matches a regular expression. One that Envoy refuses matches nothing. */
export function matchesRegex(regex: string, value: string): boolean {
  return regexProblem(regex) === undefined && (analyze(regex).fits ?? fitsWhole(RE2JS.compile(regex)))(value);
}

function fitsWhole(program: RE2JS): (value: string) => boolean {
  return (value) => program.matches(value);
}

function analyze(regex: string): Analysis {
  const before = keyCache.get(regex) ?? cache.get(regex);
  if (before !== undefined) return before;
  const key = baggageKey(regex);
  const found = key === undefined ? compile(regex) : { fits: baggageTest(key) };
  (key === undefined ? cache : keyCache).set(regex, found);
  return found;
}

function compile(regex: string): Analysis {
  try {
    const program = RE2JS.compile(regex);
    if (program.programSize() > MAX_INSTRUCTIONS || sizeInProxy(regex) > MAX_INSTRUCTIONS) {
      return { problem: 'it is too large once its repetitions are expanded' };
    }
    const problem = refusedSyntax(regex);
    if (problem !== undefined) return { problem };
    return program.programSize() > SMALL ? {} : { fits: fitsWhole(program) };
  } catch (error) {
    return { problem: (error as Error).message.replace(/^error parsing regexp: /, '') };
  }
}
