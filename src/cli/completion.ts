// `offshoot completion SHELL`: a script for the shell, which asks the hidden `offshoot complete` for each word. Names of
// environments and namespaces come from the cluster, if it answers quickly.
import type { Command as TabCommand, RootCommand } from '@bomb.sh/tab';
import { Argument, Command } from 'commander';
import type { KubeObject } from '../kube/objects.ts';

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
      const names = await liveNames(words);
      describe(root, root, program(), [], names);
      root.parse([...words]);
    });
}

interface LiveNames {
  readonly environments: readonly string[];
  readonly namespaces: readonly string[];
}

/** Tells the completer what there is, command by command. */
function describe(
  root: RootCommand,
  into: TabCommand,
  command: Command,
  path: readonly string[],
  names: LiveNames,
): void {
  const help = command.createHelp();
  for (const option of help.visibleOptions(command)) {
    if (option.long === undefined || option.long === null) continue;
    const short = option.short?.slice(1);
    const values = option.long === '--namespace' ? names.namespaces : (option.argChoices ?? []);
    const name = option.long.slice(2);
    if (option.required || option.optional) {
      into.option(name, option.description, (complete) => values.forEach((value) => complete(value, '')), short);
    } else {
      into.option(name, option.description, short);
    }
  }
  for (const argument of command.registeredArguments) {
    const values = takesEnvironment(path) ? names.environments : (argument.argChoices ?? []);
    into.argument(argument.name(), (complete) => values.forEach((value) => complete(value, '')), argument.variadic);
  }
  for (const child of help.visibleCommands(command)) {
    const below = [...path, child.name()];
    describe(root, root.command(below.join(' '), child.description()), child, below, names);
  }
}

function takesEnvironment(path: readonly string[]): boolean {
  return path[0] === 'env' && ['describe', 'delete', 'plan'].includes(path[1] ?? '');
}

/** What the cluster has, as far as the words ask for it. */
async function liveNames(words: readonly string[]): Promise<LiveNames> {
  const before = words.at(-2);
  const wantsNamespaces = before === '-n' || before === '--namespace' || words.at(-1)?.startsWith('--namespace=');
  const commands = words.filter((word) => !word.startsWith('-'));
  const wantsEnvironments = !wantsNamespaces && takesEnvironment(commands);
  const none = { environments: [], namespaces: [] };
  if (!wantsNamespaces && !wantsEnvironments) return none;
  const [{ connected }, { DynamicEnv }, { defineKind }] = await Promise.all([
    import('./options.ts'),
    import('../api/dynamicenv.ts'),
    import('../kube/objects.ts'),
  ]);
  try {
    return await connected(clusterOf(words), async ({ client, namespace }) => {
      const options = { limit: 500, timeoutMs: PATIENCE_MS };
      const nameOf = ({ metadata }: KubeObject): string => metadata.name;
      if (wantsNamespaces) {
        const Namespace = defineKind('v1', 'Namespace', 'namespaces', { namespaced: false });
        return { ...none, namespaces: (await client.list(Namespace, options)).items.map(nameOf) };
      }
      return { ...none, environments: (await client.list(DynamicEnv, { ...options, namespace })).items.map(nameOf) };
    });
  } catch {
    // No cluster, no names: a shell has no place for the reason.
    return none;
  }
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
