// Takes out of objects and logs what looks like a secret. Too much rather than too little: whoever looks into a support
// bundle hardly ever needs the value of a variable.
import type { KubeObject } from '../../kube/objects.ts';

export const REDACTED = '<redacted>';

/** Names of variables, flags and fields that hold secrets. */
const SECRET_NAME =
  /pass(word|wd|phrase)?\b|pass_|secret|token|credential|private|api_?-?key|access_?-?key|auth|cookie|dsn|connection_?-?string|_key$|^key$/i;

/** Texts that are secrets whatever their name is. */
const SECRET_TEXT: readonly RegExp[] = [
  /\beyJ[\w-]{8,}\.[\w-]+\.[\w-]*/g, // a JSON Web Token
  /-----BEGIN [^-]*PRIVATE KEY-----[\s\S]*?(-----END [^-]*PRIVATE KEY-----|$)/g,
  /\b(AKIA|ASIA)[A-Z0-9]{16}\b/g, // an access key of AWS
  /\bgh[pousr]_\w{20,}\b/g,
  /\bxox[abprs]-[\w-]{10,}/g,
  /(?<=\bBearer )[\w.~+/-]{8,}=*/gi,
  /(?<=:\/\/[^\s/:@]*:)[^\s/@]+(?=@)/g, // the password in a URL
  /(?<=\b(?:password|passwd|secret|token|api[_-]?key)["']?\s*[=:]\s*["']?)[^\s"',;}]{4,}/gi,
];

/** A word that is random enough to be a key: long, of letters and digits, with no pattern of words. */
const RANDOM_WORD = /^(?=.*[0-9])(?=.*[A-Za-z])[A-Za-z0-9+/_=-]{32,}$/;

/** Fields that repeat an object as text, or only say who wrote it. */
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

/** An object without what looks like a secret. */
export function redacted<T extends KubeObject>(object: T): T {
  const { managedFields: _fields, annotations, ...metadata } = object.metadata;
  const { [LAST_APPLIED]: _text, ...kept } = annotations ?? {};
  const shown = { ...object, metadata: { ...metadata, ...(annotations !== undefined && { annotations: kept }) } };
  return withoutSecrets(shown) as T;
}

/** A text without what looks like a secret. */
export function redactedText(text: string): string {
  return SECRET_TEXT.reduce((rest, pattern) => rest.replaceAll(pattern, REDACTED), text);
}

function withoutSecrets(value: unknown): unknown {
  if (typeof value === 'string') return redactedText(value);
  if (Array.isArray(value))
    return value.map((each: unknown) => (isVariable(each) ? redactedVariable(each) : withoutFlag(each)));
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, withoutSecrets(each)]));
}

interface Variable {
  readonly name: string;
  readonly value: string;
}

function isVariable(value: unknown): value is Variable {
  const { name, value: text } = (value ?? {}) as Partial<Variable>;
  return typeof name === 'string' && typeof text === 'string';
}

function redactedVariable(variable: Variable): Variable {
  const { name, value } = variable;
  const isSecret = SECRET_NAME.test(name) || RANDOM_WORD.test(value);
  return { ...variable, value: isSecret && value !== '' ? REDACTED : redactedText(value) };
}

/** Of `--db-password=x`, the flag alone. */
function withoutFlag(value: unknown): unknown {
  const [, flag, name] = typeof value === 'string' ? (/^(--?([\w-]+)=)./.exec(value) ?? []) : [];
  return flag !== undefined && SECRET_NAME.test(name!) ? `${flag}${REDACTED}` : withoutSecrets(value);
}
