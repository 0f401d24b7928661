// Generates the page of commands, with their flags, defaults and examples.
import type { Argument, Command, Option } from 'commander';
import { EXIT_HELP, PLAN_EXIT_HELP } from '../../src/cli/exit.ts';
import { program } from '../../src/cli/main.ts';
import { table, writtenPage } from './markdown.ts';

/** Flags that at least this many commands have with the same meaning are described once. */
const COMMON = 8;

export async function commandsPage(): Promise<string> {
  const root = await program();
  const commands = leaves(root);
  const common = commonFlags(commands);
  const usual = [...common.values()];
  return writtenPage(
    'the commands in src/cli: change them there',
    '# Commands',
    'Every command, with its flags and examples. `offshoot COMMAND --help` prints the same. The [guide](../guide/command-line.md) explains output formats, waiting, completion and scripts.',
    table(
      ['Command', 'What it does'],
      commands.map((command) => [
        `[\`${nameOf(command)}\`](#${nameOf(command).replaceAll(' ', '-')})`,
        command.description(),
      ]),
    ),
    '## Flags of most commands',
    'Commands below name only further flags, and say which of these they have.',
    flagTable(usual),
    '## Exit codes',
    table(
      ['Code', 'Meaning'],
      [...PLAN_EXIT_HELP.matchAll(/^ {2}(\d+) +(.*)$/gm)].map(([, code, meaning]) => [code!, meaning!]),
    ),
    ...commands.flatMap((command) => sectionOf(command, common)),
  );
}

/** Commands without subcommands. */
function leaves(command: Command): Command[] {
  const below = command.commands.filter((each) => each.name() !== 'help');
  return below.length === 0 ? [command] : below.flatMap((each) => leaves(each));
}

function nameOf(command: Command): string {
  return command.parent === null ? 'offshoot' : `${nameOf(command.parent)} ${command.name()}`;
}

function shownFlags(command: Command): readonly Option[] {
  return command.options.filter(({ hidden }) => !hidden);
}

function idOf(option: Option): string {
  return JSON.stringify([option.flags, descriptionOf(option), defaultOf(option)]);
}

function commonFlags(commands: readonly Command[]): ReadonlyMap<string, Option> {
  // Output formats differ between commands.
  const flags = commands.flatMap(shownFlags).filter(({ long }) => long !== '--output');
  const all = Map.groupBy(flags, idOf);
  return new Map([...all].filter(([, { length }]) => length >= COMMON).map(([id, [option]]) => [id, option!]));
}

function sectionOf(command: Command, common: ReadonlyMap<string, Option>): string[] {
  const flags = shownFlags(command);
  const own = flags.filter((option) => !common.has(idOf(option)));
  const usual = flags.filter((option) => common.has(idOf(option)));
  const { notes, examples } = helpBelow(command);
  return [
    `## ${nameOf(command)}`,
    sentence(command.description()),
    `\`\`\`text\n${[nameOf(command), command.usage()].join(' ')}\n\`\`\``,
    ...(command.registeredArguments.length === 0 ? [] : [argumentTable(command.registeredArguments)]),
    ...(own.length === 0 ? [] : [flagTable(own)]),
    ...(usual.length === 0
      ? []
      : [`And of [those of most commands](#flags-of-most-commands): ${usual.map(shortFlag).join(', ')}.`]),
    ...notes,
    ...(examples === '' ? [] : [`\`\`\`text\n${examples}\n\`\`\``]),
  ];
}

function shortFlag({ short, long }: Option): string {
  return `\`${short ?? long}\``;
}

function argumentTable(all: readonly Argument[]): string {
  return table(
    ['Argument', 'Description'],
    all.map((each) => [`\`${each.name()}${each.variadic ? ' …' : ''}\``, each.description]),
  );
}

function flagTable(options: readonly Option[]): string {
  return table(
    ['Flag', 'Default', 'Description'],
    options.map((option) => [`\`${option.flags}\``, defaultOf(option), descriptionOf(option)]),
  );
}

function defaultOf({ description, defaultValue, defaultValueDescription, negate, required, optional }: Option): string {
  const told = /\(default: (.*)\)$/.exec(description)?.[1];
  if (told !== undefined) return told;
  if (defaultValueDescription !== undefined) return `\`${defaultValueDescription}\``;
  const isSwitch = !required && !optional;
  if (negate || defaultValue === undefined || (isSwitch && defaultValue === false)) return '';
  return `\`${typeof defaultValue === 'string' ? defaultValue : JSON.stringify(defaultValue)}\``;
}

function descriptionOf({ description, argChoices, envVar }: Option): string {
  const text = description.replace(/ \(default: .*\)$/, '').replaceAll('<', '\\<');
  const choices = argChoices?.map((choice) => `\`${choice}\``).join(', ');
  const notes = [choices && `one of ${choices}`, envVar && `variable \`${envVar}\``].filter(Boolean);
  return [text, ...notes].join('; ');
}

/** The help text below the flags of a command: notes and examples, without the exit codes. */
function helpBelow(command: Command): { readonly notes: readonly string[]; readonly examples: string } {
  let text = '';
  const emitter = command as Command & { emit(event: string, context: object): boolean };
  emitter.emit('afterHelp', { error: false, command, write: (more: string) => void (text += more) });
  const [notes = '', examples = ''] = text
    .replace(EXIT_HELP, '')
    .replace(PLAN_EXIT_HELP, '')
    .split(/^Examples?:\n/m);
  return {
    notes: paragraphsOf(notes),
    examples: examples.trimEnd().replaceAll(/^ {2}/gm, ''),
  };
}

/** Keeps indented lines, which are lists, as preformatted text. */
function paragraphsOf(text: string): string[] {
  return text
    .trim()
    .split(/\n{2,}/)
    .filter((each) => each !== '')
    .map((each) => (/^ /m.test(each) ? `\`\`\`text\n${each}\n\`\`\`` : each.replaceAll('<', '\\<')));
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}
