// `offshoot completion SHELL`: a shell script that calls the hidden `offshoot complete` for each word. Names come from
// the cluster, if it answers quickly.
import { Argument, Command } from 'commander';
import type { ClusterOptions } from '../options.ts';
import { NO_FILES, NO_SPACE, SCRIPTS, SHELLS } from './scripts.ts';
import type { Shell } from './scripts.ts';
import { suggest } from './suggest.ts';
import type { Live, Suggestion } from './suggest.ts';

/** The command that prints the script. */
export function completionCommand(): Command {
  return new Command('completion')
    .description('print the completion script of a shell')
    .addArgument(new Argument('<shell>', 'which shell').choices(SHELLS))
    .addHelpText(
      'after',
      `
"kubectl offshoot" is completed by kubectl's own script if kubectl_complete-offshoot is on the PATH.

Examples:
  source <(offshoot completion bash)
  offshoot completion zsh > "\${fpath[1]}/_offshoot"
  offshoot completion fish > ~/.config/fish/completions/offshoot.fish
  offshoot completion powershell | Out-String | Invoke-Expression`,
    )
    .action((shell: Shell) => void process.stdout.write(SCRIPTS[shell]));
}

/** The hidden command that the scripts call with the words so far; the last one is incomplete. */
export function completeCommand(program: () => Promise<Command>): Command {
  return new Command('complete')
    .argument('[words...]')
    .allowUnknownOption()
    .action(async (words: readonly string[]) => {
      const { lines, directive } = await completions(await program(), words.map(withoutQuotes));
      process.stdout.write(`${[...lines, `:${directive}`].join('\n')}\n`);
    });
}

/** PowerShell passes an empty word as `""`. */
function withoutQuotes(word: string): string {
  return word === '""' ? '' : word;
}

async function completions(
  program: Command,
  words: readonly string[],
): Promise<{ readonly lines: readonly string[]; readonly directive: number }> {
  const { known, live, isFile, prefix, value, given } = suggest(program, words);
  const fromCluster = live === undefined ? [] : await suggestFromCluster(live, value, given, clusterOf(words));
  const fitting = [...known, ...fromCluster].filter((each) => each.value.startsWith(value));
  const lines = fitting.map(({ value: found, about }) => `${prefix}${found}${about ? `\t${about}` : ''}`);
  const isIncomplete = fitting.length > 0 && fitting.every((each) => /[=:]$/.test(each.value));
  return { lines, directive: (isIncomplete ? NO_SPACE : 0) + (isFile ? 0 : NO_FILES) };
}

async function suggestFromCluster(
  live: Live,
  value: string,
  given: readonly string[],
  options: ClusterOptions,
): Promise<readonly Suggestion[]> {
  // Loaded on demand: it imports every kind.
  const { liveSuggestions } = await import('./live.ts');
  return liveSuggestions(live, value, given, options);
}

/** The cluster flags among the words. */
function clusterOf(words: readonly string[]): ClusterOptions {
  const valueOf = (...flags: string[]): string | undefined => {
    const i = words.findLastIndex(
      (word, at) => at < words.length - 1 && flags.some((flag) => word === flag || word.startsWith(`${flag}=`)),
    );
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
