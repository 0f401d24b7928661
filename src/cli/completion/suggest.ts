// Suggests how a command line can continue: commands, flags and values, from the definition of the commands. Pure; for
// names in the cluster it says only which kind is needed.
import type { Argument, Command, Option } from 'commander';

export interface Suggestion {
  readonly value: string;
  readonly about?: string;
}

/** A kind of name to look up: in the cluster, the kubeconfig or the error catalogue. */
export type Live =
  | 'environments'
  | 'claims'
  | 'targets'
  | 'classes'
  | 'rules'
  | 'namespaces'
  | 'contexts'
  | 'codes'
  /** The value of --subset: a Deployment, its container and an image. */
  | 'images'
  /** The same for the containers that an environment overrides. */
  | 'overrides';

export interface Suggestions {
  /** Suggestions that need no cluster. */
  readonly known: readonly Suggestion[];
  /** The kind of name to look up. */
  readonly live?: Live;
  /** Whether the value is a file. */
  readonly isFile: boolean;
  /** The part of the word before the value: `--flag=`. */
  readonly prefix: string;
  /** The value typed so far. */
  readonly value: string;
  /** The arguments before it. */
  readonly given: readonly string[];
}

/** The kind of name that commands take, by command group, or by command if it has no group. */
const ARGUMENTS: Readonly<Record<string, Live>> = {
  env: 'environments',
  plan: 'environments',
  prove: 'environments',
  claim: 'claims',
  target: 'targets',
  routing: 'rules',
  errors: 'codes',
};

/** Commands that take new names, or none. */
const WITHOUT_NAMES = new Set(['create', 'translate', 'validate']);

const FLAGS: Readonly<Record<string, Live>> = {
  '--namespace': 'namespaces',
  '--context': 'contexts',
  '--class': 'classes',
  '--target': 'targets',
  '--why-not': 'environments',
  '--subset': 'images',
  '--consumer': 'images',
};

const FILES = new Set(['--filename', '--kubeconfig', '--world', '--requests', '--values', '--data-dir', '--istioctl']);

/** Suggests how the last word can continue. */
export function suggest(program: Command, words: readonly string[]): Suggestions {
  const { command, path, given, pending, flagsEnded } = walk(program, words.slice(0, -1));
  const current = words.at(-1) ?? '';
  const base = { known: [], isFile: false, prefix: '', value: current, given } satisfies Suggestions;
  if (pending !== undefined) return { ...base, ...valuesOf(pending, path) };
  const [, name, value] = /^(--[^=]+)=(.*)$/s.exec(current) ?? [];
  if (!flagsEnded && name !== undefined) {
    const option = optionNamed(command, name);
    return option === undefined ? base : { ...base, ...valuesOf(option, path), prefix: `${name}=`, value: value! };
  }
  if (!flagsEnded && current.startsWith('-')) return { ...base, known: flagsOf(command) };
  if (given.length === 0 && command.commands.length > 0) return { ...base, known: commandsOf(command) };
  const argument = command.registeredArguments[given.length] ?? lastVariadic(command);
  return argument === undefined ? base : { ...base, ...argumentValues(argument, path, given.length) };
}

interface Walked {
  readonly command: Command;
  /** The names of the command and its parents, without the program. */
  readonly path: readonly string[];
  readonly given: readonly string[];
  /** The option whose value comes next. */
  readonly pending?: Option;
  readonly flagsEnded: boolean;
}

function walk(program: Command, words: readonly string[]): Walked {
  let command = program;
  const path: string[] = [];
  const given: string[] = [];
  let pending: Option | undefined;
  let flagsEnded = false;
  for (const word of words) {
    if (pending !== undefined) pending = undefined;
    else if (word === '--') flagsEnded = true;
    else if (!flagsEnded && word.startsWith('-')) {
      const option = word.includes('=') ? undefined : optionNamed(command, word);
      if (option?.required) pending = option;
    } else {
      const below = given.length === 0 ? childNamed(command, word) : undefined;
      if (below === undefined) given.push(word);
      else {
        command = below;
        path.push(below.name());
      }
    }
  }
  return { command, path, given, flagsEnded, ...(pending && { pending }) };
}

function childNamed(command: Command, word: string): Command | undefined {
  return command.commands.find((each) => each.name() === word || each.aliases().includes(word));
}

function optionNamed(command: Command, flag: string): Option | undefined {
  return command.options.find(({ long, short }) => long === flag || short === flag);
}

function lastVariadic(command: Command): Argument | undefined {
  const last = command.registeredArguments.at(-1);
  return last?.variadic ? last : undefined;
}

function commandsOf(command: Command): Suggestion[] {
  const visible = command.createHelp().visibleCommands(command);
  return visible.map((each) => ({ value: each.name(), about: each.description() }));
}

function flagsOf(command: Command): Suggestion[] {
  const visible = command.createHelp().visibleOptions(command);
  return visible.flatMap(({ long, description }) => (long ? [{ value: long, about: description }] : []));
}

type Values = Pick<Suggestions, 'known' | 'isFile'> & { readonly live?: Live };

function valuesOf(option: Option, path: readonly string[]): Values {
  const live = option.long === '--delete' ? namedBy(path) : FLAGS[option.long ?? ''];
  return {
    known: (option.argChoices ?? []).map((value) => ({ value })),
    isFile: FILES.has(option.long ?? ''),
    ...(live && { live }),
  };
}

function argumentValues({ argChoices = [] }: Argument, path: readonly string[], position: number): Values {
  const live = path.at(-1) === 'set-image' && position > 0 ? 'overrides' : namedBy(path);
  const isFirstOrMany = live !== undefined && argChoices.length === 0;
  return { known: argChoices.map((value) => ({ value })), isFile: false, ...(isFirstOrMany && { live }) };
}

/** The kind of name that a command takes. */
function namedBy(path: readonly string[]): Live | undefined {
  const command = path.at(-1) ?? '';
  if (WITHOUT_NAMES.has(command)) return undefined;
  return path.join(' ') === 'target classes' ? 'classes' : ARGUMENTS[path[0] ?? ''];
}
