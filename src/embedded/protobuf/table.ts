// The wire layout of the built-in kinds, read and parsed when the first of them is asked for. scripts/protobuf.ts writes
// messages.json: a message a line, its fields as `NUMBER NAME TYPE`.
import { readFileSync } from 'node:fs';

/** The name of a field in which the JSON of the message around it holds the fields of this one. */
const inlined = '.';
/** The name of the only field of a message whose JSON is the value of that field. */
const itself = '=';

export interface Field {
  readonly number: number;
  /** Its name in JSON. */
  readonly name: string;
  readonly list: boolean;
  /** A map with texts as keys. */
  readonly map: boolean;
  /** `string`, `bytes`, `bool`, `int`, `double`, or the name of a message. */
  readonly type: string;
  /** Zero, false and the empty text are values here; elsewhere they stand for no value. */
  readonly keepsZero: boolean;
  readonly inline: boolean;
}

export interface Message {
  readonly name: string;
  /** In the order of their numbers. */
  readonly fields: readonly Field[];
  readonly byNumber: ReadonlyMap<number, Field>;
  /** Its JSON is the value of its only field. */
  readonly isItsField: boolean;
}

let written: Readonly<Record<string, string>> | undefined;
const messages = new Map<string, Message>();

function writtenMessages(): Readonly<Record<string, string>> {
  written ??= JSON.parse(readFileSync(new URL('messages.json', import.meta.url), 'utf8')) as Record<string, string>;
  return written;
}

/** The layout of a message by its name, such as `core.v1.Pod`. */
export function messageOf(name: string): Message {
  let message = messages.get(name);
  if (message === undefined) {
    const text = writtenMessages()[name];
    if (text === undefined) throw new Error(`no message is named ${name}`);
    messages.set(name, (message = parse(name, text)));
  }
  return message;
}

function parse(name: string, text: string): Message {
  const fields = text === '' ? [] : text.split(',').map((field) => parseField(field, packageOf(name)));
  fields.sort((one, other) => one.number - other.number);
  const byNumber = new Map(fields.map((field) => [field.number, field]));
  return { name, fields, byNumber, isItsField: fields[0]?.name === itself };
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
    // Messages of the same package go by their own name alone, which starts with a capital.
    type: /^[A-Z]/.test(inner) ? `${home}.${inner}` : inner,
    keepsZero: type.endsWith('!'),
    inline: name === inlined,
  };
}

/** Groups whose package is not named after the first part of their name. */
const packageNames: Readonly<Record<string, string>> = { '': 'core', 'rbac.authorization.k8s.io': 'rbac' };

/** The message of a kind; undefined when it has none. Some kinds are the same in every group. */
export function messageNameOf(apiVersion: string, kind: string): string | undefined {
  const slash = apiVersion.indexOf('/');
  const group = slash < 0 ? '' : apiVersion.slice(0, slash);
  const home = packageNames[group] ?? group.replace(/\.k8s\.io$/, '');
  const names = [`${home}.${apiVersion.slice(slash + 1)}.${kind}`, `meta.v1.${kind}`];
  return names.find((name) => Object.hasOwn(writtenMessages(), name));
}
