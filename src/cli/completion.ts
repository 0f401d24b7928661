// `offshoot completion SHELL`: a script for the shell, which asks the hidden `offshoot complete` for each word. Names come
// from the cluster, if it answers quickly.
import type { Command as TabCommand, RootCommand } from '@bomb.sh/tab';
import { Argument, Command } from 'commander';
import type { AnyKind } from '../kube/objects.ts';

const SHELLS = ['bash', 'zsh', 'fish', 'powershell'] as const;

/** A shell must never hang for longer than this because a cluster does not answer. */
const PATIENCE_MS = 1_500;

/** The command that people call. */
export function completionCommand(): Command {
  return new Command('completion')
    .description('print a completion script for a shell')
    .addArgument(new Argument('<shell>', 'which shell').choices(SHELLS))
    .addHelpText(
      'after',
      `
Examples:
  source <(offshoot completion bash)
  offshoot completion zsh > "\${fpath[1]}/_offshoot"
  offshoot completion fish > ~/.config/fish/completions/offshoot.fish
  offshoot completion powershell | Out-String | Invoke-Expression`,
    )
    .action(async (shell: string) => {
      const { script } = await import('@bomb.sh/tab');
      script(shell, 'offshoot', 'offshoot');
    });
}

/** The command that the scripts call: the words so far, the last one unfinished. */
export function completeCommand(program: () => Command): Command {
  return new Command('complete')
    .argument('[words...]')
    .allowUnknownOption()
    .action(async (words: readonly string[]) => {
      const { RootCommand: Root } = await import('@bomb.sh/tab');
      const root = new Root();
      const live = await liveNames(words);
      describe(root, root, program(), [], live);
      root.parse([...words]);
    });
}

type Live = 'environments' | 'claims' | 'targets' | 'classes' | 'rules' | 'namespaces';

/** Names that the cluster has, of the one kind that the words ask for. */
interface LiveNames {
  readonly of: Live | undefined;
  readonly names: readonly string[];
}

/** Commands that take a name, by what of: those below a group, or one alone. */
const NAMED: Readonly<Record<string, { readonly of: Live; readonly commands?: readonly string[] }>> = {
  plan: { of: 'environments' },
  prove: { of: 'environments' },
  env: {
    of: 'environments',
    commands: ['describe', 'apply', 'set-image', 'delete', 'extend', 'sleep', 'wake', 'plan'],
  },
  claim: { of: 'claims', commands: ['describe', 'delete', 'kubeconfig', 'plan'] },
  target: { of: 'targets', commands: ['describe'] },
  routing: { of: 'rules', commands: ['describe'] },
};

/** Flags that take a name, by what of. */
const FLAGS: Readonly<Record<string, Live>> = {
  '-n': 'namespaces',
  '--namespace': 'namespaces',
  '--class': 'classes',
  '--target': 'targets',
  '--why-not': 'environments',
};

/** Takes the name of whatever its command is about. */
const DELETE = '--delete';

/** Tells the completer what there is, command by command. */
function describe(
  root: RootCommand,
  into: TabCommand,
  command: Command,
  path: readonly string[],
  live: LiveNames,
): void {
  const namesOf = (what: Live | undefined): readonly string[] | undefined =>
    what !== undefined && what === live.of ? live.names : undefined;
  const help = command.createHelp();
  for (const option of help.visibleOptions(command)) {
    if (option.long === undefined || option.long === null) continue;
    const short = option.short?.slice(1);
    const named = option.long === DELETE ? takenBy(path) : FLAGS[option.long];
    const values = namesOf(named) ?? option.argChoices ?? [];
    const name = option.long.slice(2);
    if (option.required || option.optional) {
      into.option(name, option.description, (complete) => values.forEach((value) => complete(value, '')), short);
    } else {
      into.option(name, option.description, short);
    }
  }
  for (const argument of command.registeredArguments) {
    const values = namesOf(takenBy(path)) ?? argument.argChoices ?? [];
    into.argument(argument.name(), (complete) => values.forEach((value) => complete(value, '')), argument.variadic);
  }
  for (const child of help.visibleCommands(command)) {
    const below = [...path, child.name()];
    describe(root, root.command(below.join(' '), child.description()), child, below, live);
  }
}

/** What a command takes the name of. */
function takenBy([group = '', command = '']: readonly string[]): Live | undefined {
  const named = NAMED[group];
  return named?.commands?.includes(command) === false ? undefined : named?.of;
}

/** What the last of the words may be a name of. */
function askedFor(words: readonly string[]): Live | undefined {
  const [flag] = (words.at(-1) ?? '').split('=');
  const byFlag = FLAGS[words.at(-2) ?? ''] ?? (words.at(-1)?.includes('=') ? FLAGS[flag!] : undefined);
  return byFlag ?? takenBy(words.filter((word) => !word.startsWith('-')));
}

/** What the cluster has, as far as the words ask for it. */
async function liveNames(words: readonly string[]): Promise<LiveNames> {
  const of = askedFor(words);
  if (of === undefined) return { of, names: [] };
  try {
    const [{ withConnection }, kind] = await Promise.all([import('./options.ts'), kindOf(of)]);
    return await withConnection(clusterOf(words), async ({ client, namespace }) => {
      const page = await client.list(kind, {
        limit: 500,
        timeoutMs: PATIENCE_MS,
        ...(kind.namespaced && { namespace }),
      });
      return { of, names: page.items.map(({ metadata }) => metadata.name) };
    });
  } catch {
    // No cluster, no names: a shell has no place for the reason.
    return { of, names: [] };
  }
}

async function kindOf(what: Live): Promise<AnyKind> {
  if (what === 'environments') return (await import('../api/dynamicenv.ts')).DynamicEnv;
  if (what === 'rules') return (await import('../api/routing.ts')).RoutingRule;
  if (what === 'namespaces') {
    const { defineKind } = await import('../kube/objects.ts');
    return defineKind('v1', 'Namespace', 'namespaces', { namespaced: false });
  }
  const { CLAIM, CLASS, TARGET } = await import('./claim/nouns.ts');
  return { claims: CLAIM.kind, classes: CLASS.kind, targets: TARGET.kind }[what];
}

/** The flags for the cluster among unfinished words. */
function clusterOf(words: readonly string[]): { namespace?: string; context?: string; kubeconfig?: string } {
  const valueOf = (...flags: string[]): string | undefined => {
    const i = words.findLastIndex((word) => flags.some((flag) => word === flag || word.startsWith(`${flag}=`)));
    const word = words[i];
    return word?.includes('=') ? word.slice(word.indexOf('=') + 1) : i < 0 ? undefined : words[i + 1];
  };
  const [namespace, context, kubeconfig] = [
    valueOf('-n', '--namespace'),
    valueOf('--context'),
    valueOf('--kubeconfig'),
  ];
  return {
    ...(namespace && { namespace }),
    ...(context && { context }),
    ...(kubeconfig && { kubeconfig }),
  };
}
