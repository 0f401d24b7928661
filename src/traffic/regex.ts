// Regular expressions as in Envoy: RE2 syntax over bytes, matched against the whole value.
import { RE2JS } from 're2js';
import { BoundedMap } from '../kube/bounded-map.ts';
import { baggageKey, baggageTest } from './baggage.ts';

/** The limits of Istio: 1024 bytes, and Envoy is configured to refuse programs of more than 32,768 instructions. */
const MAX_BYTES = 1_024;
/** Slightly less than 32,768, as programs of Envoy's RE2 are a little larger than ours. */
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
    const size = isAscii(regex) ? program.programSize() : RE2JS.compile(asBytes(regex)).programSize();
    if (size > MAX_INSTRUCTIONS) return { problem: 'it is too large once its repetitions are expanded' };
    const escape = wideEscape(regex);
    if (escape !== undefined) return { problem: `invalid escape sequence: \`${escape}\`: it is more than one byte` };
    return size > SMALL ? {} : { fits: fitsWhole(program) };
  } catch (error) {
    return { problem: (error as Error).message.replace(/^error parsing regexp: /, '') };
  }
}

function isAscii(text: string): boolean {
  return Buffer.byteLength(text) === text.length;
}

/** A text with one character for each byte, as Envoy counts bytes. */
function asBytes(text: string): string {
  return Buffer.from(text).toString('latin1');
}

/** Quoted text and escapes; the groups hold the number of an escape for a character code. */
const ESCAPES = /\\Q.*?(?:\\E|$)|\\x\{([\da-f]+)\}|\\([0-7]{1,3})|\\./gis;

/** An escape for a code beyond one byte, which RE2 would accept but Envoy does not. */
function wideEscape(regex: string): string | undefined {
  for (const [escape, hex, octal] of regex.matchAll(ESCAPES)) {
    const code = hex === undefined ? Number.parseInt(octal ?? '0', 8) : Number.parseInt(hex, 16);
    if (code > 0xff) return escape;
  }
  return undefined;
}
