// The wire layout of the built-in kinds, read on first use. scripts/protobuf.ts writes messages.json: one message per
// line, its fields as `NUMBER NAME TYPE`.
import { readFileSync } from 'node:fs';

/** Marks a field whose message is inlined in the JSON of its parent. */
const inlined = '.';
/** Marks the only field of a message whose JSON is the value of that field. */
const unwrapped = '=';

export interface Field {
  readonly number: number;
  /** The JSON name. */
  readonly name: string;
  readonly list: boolean;
  /** A map with string keys. */
  readonly map: boolean;
  /** `string`, `bytes`, `bool`, `int`, `double`, or the name of a message. */
  readonly type: string;
  /** Keeps 0, false and the empty string; in other fields they mean that the field is unset. */
  readonly keepsZero: boolean;
  readonly inline: boolean;
}

export interface Message {
  readonly name: string;
  /** Sorted by number. */
  readonly fields: readonly Field[];
  readonly byNumber: ReadonlyMap<number, Field>;
  /** The JSON is the value of the only field. */
  readonly isUnwrapped: boolean;
}

let messageTexts: Readonly<Record<string, string>> | undefined;
const messages = new Map<string, Message>();

function loadMessageTexts(): Readonly<Record<string, string>> {
  messageTexts ??= JSON.parse(readFileSync(new URL('messages.json', import.meta.url), 'utf8')) as Record<
    string,
    string
  >;
  return messageTexts;
}

/** The layout of a message by its name, such as `core.v1.Pod`. */
export function messageOf(name: string): Message {
  let message = messages.get(name);
  if (message === undefined) {
    const text = loadMessageTexts()[name];
    if (text === undefined) throw new Error(`no message is named ${name}`);
    messages.set(name, (message = parse(name, text)));
  }
  return message;
}

function parse(name: string, text: string): Message {
  const fields = text === '' ? [] : text.split(',').map((field) => parseField(field, packageOf(name)));
  fields.sort((one, other) => one.number - other.number);
  const byNumber = new Map(fields.map((field) => [field.number, field]));
  return { name, fields, byNumber, isUnwrapped: fields[0]?.name === unwrapped };
}

/** The package of a message, such as `core.v1`. */
export function packageOf(message: string): string {
  return message.slice(0, message.lastIndexOf('.'));
}

function parseField(text: string, home: string): Field {
  const [number, name = '', type = ''] = text.split(' ');
  const inner = type.replace(/^\[\]|^\{\}/, '').replace('!', '');
  return {
    number: Number(number),
    name,
    list: type.startsWith('[]'),
    map: type.startsWith('{}'),
    // Messages of the same package have no package prefix and start with a capital letter.
    type: /^[A-Z]/.test(inner) ? `${home}.${inner}` : inner,
    keepsZero: type.endsWith('!'),
    inline: name === inlined,
  };
}

/** Groups whose package has another name than the group without `.k8s.io`. */
const packageNames: Readonly<Record<string, string>> = { '': 'core', 'rbac.authorization.k8s.io': 'rbac' };

/** The message name of a kind; undefined when it has none. Some kinds, such as Status, exist in every group. */
export function messageNameOf(apiVersion: string, kind: string): string | undefined {
  const slash = apiVersion.indexOf('/');
  const group = slash < 0 ? '' : apiVersion.slice(0, slash);
  const home = packageNames[group] ?? group.replace(/\.k8s\.io$/, '');
  const names = [`${home}.${apiVersion.slice(slash + 1)}.${kind}`, `meta.v1.${kind}`];
  return names.find((name) => Object.hasOwn(loadMessageTexts(), name));
}
