// Regular expressions as Envoy reads them: RE2 syntax over bytes, and a value fits only as a whole.
import { RE2JS } from 're2js';
import { BoundedMap } from '../kube/bounded-map.ts';
import { baggageKey, baggageTest } from './baggage.ts';

/** What Istio takes: longer ones are refused, and Envoy is told to refuse what compiles to more than 32,768. */
const MOST_BYTES = 1_024;
/** A few less: programs of Envoy's RE2 are a little larger. */
const MOST_INSTRUCTIONS = 32_700;

/** Plans ask again and again about the same few: what is known of them, and programs that are worth their memory. */
const known = new BoundedMap<string, Known>(1_000);
const SMALL = 200;
/** Every environment with a key has one for the baggage: these need little memory, and nobody has to ask RE2. */
const knownKeys = new BoundedMap<string, Known>(20_000);

interface Known {
  readonly problem?: string;
  readonly fits?: (value: string) => boolean;
}

/** Why Envoy would refuse a regular expression. One such route stops every update of its port, for every service. */
export function regexProblem(regex: string): string | undefined {
  const bytes = Buffer.byteLength(regex);
  if (bytes > MOST_BYTES) return `${bytes} bytes are more than ${MOST_BYTES}`;
  return look(regex).problem;
}

/** Whether a value fits a regular expression; none fits one that would be refused. */
export function fitsRegex(regex: string, value: string): boolean {
  return regexProblem(regex) === undefined && (look(regex).fits ?? fitsWhole(RE2JS.compile(regex)))(value);
}

function fitsWhole(program: RE2JS): (value: string) => boolean {
  return (value) => program.matches(value);
}

function look(regex: string): Known {
  const before = knownKeys.get(regex) ?? known.get(regex);
  if (before !== undefined) return before;
  const key = baggageKey(regex);
  const found = key === undefined ? compile(regex) : { fits: baggageTest(key) };
  (key === undefined ? known : knownKeys).set(regex, found);
  return found;
}

function compile(regex: string): Known {
  try {
    const program = RE2JS.compile(regex);
    const size = isAscii(regex) ? program.programSize() : RE2JS.compile(asBytes(regex)).programSize();
    if (size > MOST_INSTRUCTIONS) return { problem: 'it is too large once its repetitions are expanded' };
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

/** A text with a letter for each byte of it: that is what Envoy counts. */
function asBytes(text: string): string {
  return Buffer.from(text).toString('latin1');
}

/** What is quoted, and escapes; those that name a character by its number have it in one of the groups. */
const ESCAPES = /\\Q.*?(?:\\E|$)|\\x\{([\da-f]+)\}|\\([0-7]{1,3})|\\./gis;

/** An escape that stands for no byte: Envoy has no others, though RE2 would. */
function wideEscape(regex: string): string | undefined {
  for (const [escape, hex, octal] of regex.matchAll(ESCAPES)) {
    const code = hex === undefined ? Number.parseInt(octal ?? '0', 8) : Number.parseInt(hex, 16);
    if (code > 0xff) return escape;
  }
  return undefined;
}
