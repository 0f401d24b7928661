// Flags that several commands share, with the names and meanings of kubectl.
import { InvalidArgumentError, Option } from 'commander';
import type { Command } from 'commander';
import type { Client } from '../kube/client/client.ts';
import type { ConnectConfig } from '../kube/client/config/config.ts';
import { parseDuration } from '../kube/duration.ts';
import { InvalidSelectorError, parseSelector } from '../kube/selector.ts';
import { JsonPathError, parseTemplate } from './jsonpath/parse.ts';
import type { OutputFormat } from './terminal/output.ts';

export type DryRun = 'none' | 'client' | 'server';

/** Which cluster, and which namespace of it. */
export interface ClusterOptions {
  readonly namespace?: string;
  readonly context?: string;
  readonly kubeconfig?: string;
}

/** Adds `-n`, `--context` and `--kubeconfig`. */
export function clusterFlags(command: Command, namespace = 'that of the kubeconfig context'): Command {
  return command
    .addOption(new Option('-n, --namespace <name>', `the namespace (default: ${namespace})`).argParser(parseNamespace))
    .option('--context <name>', 'the kubeconfig context to use')
    .option(
      '--kubeconfig <file>',
      'the kubeconfig file (default: $KUBECONFIG, or ~/.kube/config, or that of "offshoot up")',
    );
}

/** Adds the flags of list commands: which objects, how to print them, and whether to watch. */
export function listFlags(command: Command, { namespaced = true } = {}): Command {
  const flagged = clusterFlags(command.argument('[NAME...]', 'only these (default: all)'));
  return (namespaced ? flagged.option('-A, --all-namespaces', 'list objects in all namespaces') : flagged)
    .addOption(selectorFlag())
    .addOption(outputFlag(['table', 'wide', 'json', 'yaml', 'name'], 'table'))
    .option('--no-headers', 'do not print headers')
    .option('-w, --watch', 'watch for changes after listing')
    .option('--output-watch-events', 'with -w, show whether each change is ADDED, MODIFIED or DELETED');
}

/** Adds the flags of describe commands: how to print the object, and whether to watch. */
export function describeFlags(command: Command, what: string): Command {
  return clusterFlags(command)
    .argument('<NAME>', what)
    .addOption(outputFlag(['table', 'wide', 'json', 'yaml', 'name'], 'table'))
    .addOption(watchTreeFlag());
}

/** Adds the flags of delete commands: which objects (`claims`), and whether to wait until they are gone. */
export function deleteFlags(command: Command, objects: string, timeout: string): Command {
  return clusterFlags(command)
    .argument('[NAME...]', `the ${objects}`)
    .addOption(filenameFlag(`${objects} to delete`))
    .addOption(selectorFlag())
    .addOption(dryRunFlag())
    .addOption(outputFlag(['name']))
    .addOption(ignoreNotFoundFlag())
    .option('--wait', 'wait until everything is gone; this is the default', true)
    .option('--no-wait', 'return as soon as the deletion has started')
    .addOption(timeoutFlag(timeout));
}

/** `-w` of describe commands. */
export function watchTreeFlag(): Option {
  return new Option('-w, --watch', 'show it again whenever something changes');
}

/** `-o` with the formats of a command. A jsonpath template applies to the JSON data. */
export function outputFlag(formats: readonly OutputFormat[], initial?: OutputFormat): Option {
  const choices = [...formats, ...(formats.includes('json') ? ['jsonpath='] : [])];
  const option = new Option('-o, --output <format>', 'how to print the result')
    .choices(choices)
    .argParser((text: string) => parseOutput(text, choices));
  return initial === undefined ? option : option.default(initial);
}

function parseOutput(text: string, choices: readonly string[]): string {
  // kubectl accepts -o=json too.
  const format = text.replace(/^=/, '');
  const [name, template] = format.split(/=(.*)/s, 2) as [string, string?];
  if (template === undefined ? choices.includes(name) : choices.includes(`${name}=`)) {
    if (template !== undefined) checkTemplate(template);
    return format;
  }
  throw new InvalidArgumentError(`Allowed choices are ${choices.join(', ')}.`);
}

function checkTemplate(template: string): void {
  try {
    parseTemplate(template);
  } catch (error) {
    if (error instanceof JsonPathError) throw new InvalidArgumentError(`${sentence(error.message)}.`);
    throw error;
  }
}

function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** `-f`, which may be given several times. */
export function filenameFlag(what: string): Option {
  return new Option('-f, --filename <path>', `${what}: a file, a directory, or - for standard input`).argParser(
    collect,
  );
}

/** `--world`, in place of a cluster. */
export function worldFlag(what: string): Option {
  return new Option(
    '--world <path>',
    `${what} manifests instead of a cluster: a file, a directory, or - for standard input`,
  ).conflicts(['kubeconfig', 'context']);
}

/** `-l`. */
export function selectorFlag(): Option {
  return new Option('-l, --selector <labels>', 'only those with these labels, such as team=blue,tier!=web').argParser(
    parseLabels,
  );
}

/** `--timeout`, in milliseconds. */
export function timeoutFlag(initial: string): Option {
  return new Option('--timeout <duration>', 'how long to wait, such as 90s or 2m')
    .argParser(durationFlag)
    .default(durationFlag(initial), initial);
}

/** A hidden flag for commands that do not wait by default, so that --wait=false is accepted. */
export function noWaitFlag(): Option {
  return new Option('--no-wait', 'do not wait').default(false).hideHelp();
}

/** Same as in kubectl, for scripts that clean up. */
function ignoreNotFoundFlag(): Option {
  return new Option('--ignore-not-found', 'ignore objects that do not exist');
}

/** `--dry-run`. */
export function dryRunFlag(modes: readonly DryRun[] = ['none', 'client', 'server']): Option {
  return new Option('--dry-run <mode>', 'client prints what would be sent; server validates it in the cluster')
    .choices(modes)
    .default('none');
}

/** For flags that may be given several times. */
export function collect(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}

/** A connection to the cluster that the flags name, and the namespace to work in. */
export interface Connection {
  readonly client: Client;
  readonly namespace: string;
  /** How the cluster is reached. */
  readonly config: ConnectConfig;
}

/** Runs a function with a connection, and closes it afterwards. */
export async function withConnection<R>(
  options: ClusterOptions,
  run: (connection: Connection) => Promise<R>,
): Promise<R> {
  // Loaded on demand, so that help and usage errors work without it.
  const [{ connect }, { configOfCluster }] = await Promise.all([
    import('../kube/client/connect.ts'),
    import('./kubeconfig/source.ts'),
  ]);
  const config = configOfCluster(options);
  const printed = new Set<string>();
  const onWarning = (text: string): void => {
    if (!printed.has(text)) console.error(`Warning: ${text}`);
    printed.add(text);
  };
  const client = connect(config, { userAgent: 'offshoot-cli', onWarning });
  try {
    return await run({ client, namespace: options.namespace ?? config.namespace ?? 'default', config });
  } catch (error) {
    const { withClusterHint } = await import('./objects/cluster-hint.ts');
    throw withClusterHint(error, config.server, options);
  } finally {
    client.close();
  }
}

/** kubectl negates a switch with `=false`, commander with the prefix `--no-`. */
export function withNegatedSwitches(argv: readonly string[]): readonly string[] {
  const end = argv.indexOf('--');
  return argv.map((argument, i) => {
    if (end >= 0 && i > end) return argument;
    if (argument === '--wait=true') return '--wait';
    return argument === '--wait=false' ? '--no-wait' : argument;
  });
}

const BEFORE_COMMANDS = /^(?:-n$|--(?:namespace|context|kubeconfig)(=|$))/;

/** kubectl accepts cluster flags before the command too; with commander they belong to each command. */
export function withClusterFlagsLast(argv: readonly string[]): readonly string[] {
  let at = 2;
  for (let flag; (flag = BEFORE_COMMANDS.exec(argv[at] ?? '')) !== null;) at += flag[1] === '=' ? 1 : 2;
  const rest = argv.slice(at);
  const end = rest.includes('--') ? rest.indexOf('--') : rest.length;
  return [...argv.slice(0, 2), ...rest.slice(0, end), ...argv.slice(2, at), ...rest.slice(end)];
}

/** Parses a duration (`90s`, `1m30s`, `2d`) into milliseconds. */
export function durationFlag(text: string): number {
  const ms = parseDuration(text);
  if (ms !== undefined) return ms;
  throw new InvalidArgumentError('A duration is a number with a unit, such as 90s, 1m30s or 2d.');
}

/** Whether a text is a DNS label, as names of namespaces must be. */
export function isDnsLabel(text: string): boolean {
  return text.length <= 63 && /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/.test(text);
}

/** Checks the namespace of a flag. */
export function parseNamespace(text: string): string {
  if (isDnsLabel(text)) return text;
  throw new InvalidArgumentError('A namespace is at most 63 lowercase letters, digits and hyphens.');
}

/** Checks the label selector of a flag, and returns it unchanged. */
export function parseLabels(text: string): string {
  try {
    parseSelector(text);
    return text;
  } catch (error) {
    if (error instanceof InvalidSelectorError) throw new InvalidArgumentError(error.message);
    throw error;
  }
}
