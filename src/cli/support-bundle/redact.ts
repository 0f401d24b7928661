// Redacts what looks like a secret in objects and logs. Rather too much than too little: support rarely needs the value
// of a variable.
import type { KubeObject } from '../../kube/objects.ts';

export const REDACTED = '<redacted>';

/** Names of variables, flags and fields that hold secrets. */
const SECRET_NAME =
  /pass(word|wd|phrase)?\b|pass_|secret|token|credential|private|api_?-?key|access_?-?key|auth|cookie|dsn|connection_?-?string|_key$|^key$/i;

/** Texts that are secrets whatever the name of their field. */
const SECRET_TEXT: readonly RegExp[] = [
  /\beyJ[\w-]{8,}\.[\w-]+\.[\w-]*/g, // a JSON Web Token
  /-----BEGIN [^-]*PRIVATE KEY-----[\s\S]*?(-----END [^-]*PRIVATE KEY-----|$)/g,
  /\bLS0tLS1CRUdJTiB(?:QUklWQVRF|SU0Eg|FQyBQ)[A-Za-z0-9+/]+=*/g, // a private key in base64, as in kubeconfigs
  /\b(?:H4sI|SDRzS)[A-Za-z0-9+/]{40,}=*/g, // gzip data, such as a Helm release
  /\b(AKIA|ASIA)[A-Z0-9]{16}\b/g, // an AWS access key
  /\bgh[pousr]_\w{20,}\b/g,
  /\bxox[abprs]-[\w-]{10,}/g,
  /(?<=\bBearer )[\w.~+/-]{8,}=*/gi,
  /(?<=:\/\/[^\s/:@]*:)[^\s/@]+(?=@)/g, // the password in a URL
];

/** `DB_PASSWORD=x`, `token: "x"`, `\"clientSecret\":\"x\"`; but not `secretName: x`. */
const ASSIGNED =
  /((?:passwo?r?d|passphrase|secret(?!s?[-_]?(?:name|ref))|token|credential|private[_-]?key|api[_-]?key|access[_-]?key|client-key-data)[\w-]*\\*["']?\s*[=:]\s*)(?:(\\*["'])((?:(?!\2).)+)(\2)|([^\s"'\\,;}]{4,}))/gi;

/** A variable in a manifest as text: `{"name":"DB_PASSWORD","value":"x"}`. */
const VARIABLE_TEXT = /(\\*"name\\*":\s*\\*"([^"\\]+)\\*",\s*\\*"value\\*":\s*\\*")([^"\\]+)/g;

/** A word that may be a key: long, with letters and digits. */
const RANDOM_WORD = /^(?=.*[0-9])(?=.*[A-Za-z])[A-Za-z0-9+/_=-]{32,}$/;

/** Fields whose values are secrets in any object. Not `key`: the key of an environment is no secret. */
const SECRET_FIELD = /^(?:password|passwd|passphrase|token|secret|(?:api|access|private|secret)_?key|client_?secret)$/i;

/** Annotations, also of templates, that contain an object as text. */
const OBJECT_ANNOTATIONS =
  /^(?:kubectl\.kubernetes\.io\/last-applied-configuration|objectset\.rio\.cattle\.io\/applied|kapp\.k14s\.io\/original)$/;

/** An object with secrets redacted. */
export function redacted<T extends KubeObject>(object: T): T {
  const { managedFields: _fields, ...metadata } = object.metadata;
  return withoutSecrets({ ...object, metadata }) as T;
}

/** A text with secrets redacted. */
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
      return isSecretFlag(value[at - 1]) && typeof each === 'string' ? REDACTED : withoutFlagValue(each);
    });
  if (value === null || typeof value !== 'object') return value;
  const fields = Object.entries(value).filter(([key]) => !OBJECT_ANNOTATIONS.test(key));
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

/** Whether it is a flag such as `--db-password`, whose value is the next argument. */
function isSecretFlag(value: unknown): boolean {
  return typeof value === 'string' && /^--?[\w-]+$/.test(value) && SECRET_NAME.test(value);
}

/** Redacts the value of `--db-password=x`. */
function withoutFlagValue(value: unknown): unknown {
  const [, flag, name] = typeof value === 'string' ? (/^(--?([\w-]+)=)./.exec(value) ?? []) : [];
  return flag !== undefined && SECRET_NAME.test(name!) ? `${flag}${REDACTED}` : withoutSecrets(value);
}
