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
  /\bLS0tLS1CRUdJTiB(?:QUklWQVRF|SU0Eg|FQyBQ)[A-Za-z0-9+/]+=*/g, // the same in base64, as kubeconfigs have it
  /\b(?:H4sI|SDRzS)[A-Za-z0-9+/]{40,}=*/g, // something packed by gzip, such as a release of Helm
  /\b(AKIA|ASIA)[A-Z0-9]{16}\b/g, // an access key of AWS
  /\bgh[pousr]_\w{20,}\b/g,
  /\bxox[abprs]-[\w-]{10,}/g,
  /(?<=\bBearer )[\w.~+/-]{8,}=*/gi,
  /(?<=:\/\/[^\s/:@]*:)[^\s/@]+(?=@)/g, // the password in a URL
];

/** `DB_PASSWORD=x`, `token: "x"`, `\"clientSecret\":\"x\"`; but not `secretName: x`. */
const ASSIGNED =
  /((?:passwo?r?d|passphrase|secret(?!s?[-_]?(?:name|ref))|token|credential|private[_-]?key|api[_-]?key|access[_-]?key|client-key-data)[\w-]*\\*["']?\s*[=:]\s*)(?:(\\*["'])((?:(?!\2).)+)(\2)|([^\s"'\\,;}]{4,}))/gi;

/** A variable of a manifest as text: `{"name":"DB_PASSWORD","value":"x"}`. */
const VARIABLE_TEXT = /(\\*"name\\*":\s*\\*"([^"\\]+)\\*",\s*\\*"value\\*":\s*\\*")([^"\\]+)/g;

/** A word that is random enough to be a key: long, of letters and digits, with no pattern of words. */
const RANDOM_WORD = /^(?=.*[0-9])(?=.*[A-Za-z])[A-Za-z0-9+/_=-]{32,}$/;

/** Fields whose values are secrets, wherever they are. `key` is not among them: that of an environment is none. */
const SECRET_FIELD = /^(?:password|passwd|passphrase|token|secret|(?:api|access|private|secret)_?key|client_?secret)$/i;

/** Annotations, also those of templates, that repeat an object as text. */
const REPEATS =
  /^(?:kubectl\.kubernetes\.io\/last-applied-configuration|objectset\.rio\.cattle\.io\/applied|kapp\.k14s\.io\/original)$/;

/** An object without what looks like a secret. */
export function redacted<T extends KubeObject>(object: T): T {
  const { managedFields: _fields, ...metadata } = object.metadata;
  return withoutSecrets({ ...object, metadata }) as T;
}

/** A text without what looks like a secret. */
export function redactedText(text: string): string {
  return SECRET_TEXT.reduce((rest, pattern) => rest.replaceAll(pattern, REDACTED), text)
    .replaceAll(ASSIGNED, (_all, before: string, quote = '') => `${before}${quote}${REDACTED}${quote}`)
    .replaceAll(VARIABLE_TEXT, (all: string, before: string, name: string, value: string) =>
      isSecretVariable(name, value) ? `${before}${REDACTED}` : all,
    );
}

function withoutSecrets(value: unknown): unknown {
  if (typeof value === 'string') return redactedText(value);
  if (Array.isArray(value))
    return value.map((each: unknown, at) => {
      if (isVariable(each)) return redactedVariable(each);
      return isSecretFlag(value[at - 1]) && typeof each === 'string' ? REDACTED : withoutFlag(each);
    });
  if (value === null || typeof value !== 'object') return value;
  const fields = Object.entries(value).filter(([key]) => !REPEATS.test(key));
  const isSecret = ([key, each]: readonly [string, unknown]): boolean =>
    SECRET_FIELD.test(key) && typeof each === 'string' && each !== '';
  return Object.fromEntries(fields.map((field) => [field[0], isSecret(field) ? REDACTED : withoutSecrets(field[1])]));
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
  return { ...variable, value: isSecretVariable(name, value) ? REDACTED : redactedText(value) };
}

function isSecretVariable(name: string, value: string): boolean {
  return value !== '' && (SECRET_NAME.test(name) || RANDOM_WORD.test(value));
}

/** `--db-password`, which the next argument is for. */
function isSecretFlag(value: unknown): boolean {
  return typeof value === 'string' && /^--?[\w-]+$/.test(value) && SECRET_NAME.test(value);
}

/** Of `--db-password=x`, the flag alone. */
function withoutFlag(value: unknown): unknown {
  const [, flag, name] = typeof value === 'string' ? (/^(--?([\w-]+)=)./.exec(value) ?? []) : [];
  return flag !== undefined && SECRET_NAME.test(name!) ? `${flag}${REDACTED}` : withoutSecrets(value);
}
