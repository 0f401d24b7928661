// What may come next on a command line: commands, flags and values, by the definition of the commands. Pure; values that
// only a cluster knows are asked for by what they name.
import type { Argument, Command, Option } from 'commander';

export interface Suggestion {
  readonly value: string;
  readonly about?: string;
}

/** What the cluster, or the kubeconfig, knows the names of. */
export type Live =
  | 'environments'
  | 'claims'
  | 'targets'
  | 'classes'
  | 'rules'
  | 'namespaces'
  | 'contexts'
  | 'codes'
  /** What --subset takes: a Deployment, its container and an image. */
  | 'images'
  /** The same for what an environment has. */
  | 'overrides';

export interface Suggestions {
  /** What can be said without asking anybody. */
  readonly known: readonly Suggestion[];
  /** What to ask for. */
  readonly live?: Live;
  /** Whether it is a file. */
  readonly isFile: boolean;
  /** What stands before the value in the same word: `--flag=`. */
  readonly prefix: string;
  /** The value as far as it is there. */
  readonly value: string;
  /** Arguments before it. */
  readonly given: readonly string[];
}

/** What commands take the names of, by their group or, of those without one, themselves. */
const ARGUMENTS: Readonly<Record<string, Live>> = {
  env: 'environments',
  plan: 'environments',
  prove: 'environments',
  claim: 'claims',
  target: 'targets',
  routing: 'rules',
  errors: 'codes',
};

/** Commands that name something new, or take no names of objects. */
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

/** What may come next after some words, of which the last is unfinished. */
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
  /** The names of the command and of those above it, without the program. */
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

function argumentValues({ argChoices = [] }: Argument, path: readonly string[], place: number): Values {
  const live = path.at(-1) === 'set-image' && place > 0 ? 'overrides' : namedBy(path);
  const isFirstOrMany = live !== undefined && argChoices.length === 0;
  return { known: argChoices.map((value) => ({ value })), isFile: false, ...(isFirstOrMany && { live }) };
}

/** What a command takes the names of. */
function namedBy(path: readonly string[]): Live | undefined {
  const command = path.at(-1) ?? '';
  if (WITHOUT_NAMES.has(command)) return undefined;
  return path.join(' ') === 'target classes' ? 'classes' : ARGUMENTS[path[0] ?? ''];
}
