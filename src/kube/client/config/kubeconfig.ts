// Reads kubeconfig files as kubectl does: several files are merged, and paths in a file are relative to it. Called by
// the command line.
import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, dirname, join, resolve } from 'node:path';
import { parse } from 'yaml';
import type { ConnectConfig } from './config.ts';
import { inClusterConfig } from './in-cluster.ts';
import { KubeconfigFields } from './kubeconfig-fields.ts';
import { clusterPart, userPart } from './kubeconfig-parts.ts';

/** The named entries of a kubeconfig, not validated yet. */
type Entries = ReadonlyMap<string, KubeconfigFields>;

/** Kubeconfig files, merged. */
export interface Kubeconfig {
  /** The files that were read, in order. */
  readonly files: readonly string[];
  readonly currentContext?: string;
  readonly clusters: Entries;
  readonly users: Entries;
  readonly contexts: Entries;
}

export interface KubeconfigOptions {
  /** One file (the --kubeconfig flag), which must exist; otherwise $KUBECONFIG, otherwise ~/.kube/config. */
  readonly path?: string;
  readonly env?: NodeJS.ProcessEnv;
}

/** Finds and merges kubeconfig files. The first file with an entry wins, as in kubectl. */
export function readKubeconfig(options: KubeconfigOptions = {}): Kubeconfig {
  const files = kubeconfigFiles(options);
  const [clusters, users, contexts] = [
    new Map<string, KubeconfigFields>(),
    new Map<string, KubeconfigFields>(),
    new Map<string, KubeconfigFields>(),
  ];
  let currentContext: string | undefined;
  for (const file of files) {
    const top = parseFile(file);
    currentContext ??= top.string('current-context') || undefined;
    collect(top, 'clusters', 'cluster', clusters);
    collect(top, 'users', 'user', users);
    collect(top, 'contexts', 'context', contexts);
  }
  return { files, clusters, users, contexts, ...(currentContext === undefined ? {} : { currentContext }) };
}

/** The configuration of one context: the given one, or the current one. */
export function contextConfig(kubeconfig: Kubeconfig, context = kubeconfig.currentContext): ConnectConfig {
  const where = `kubeconfig ${kubeconfig.files.join(delimiter)}`;
  if (context === undefined)
    throw new Error(`${where}: there is no current-context; name one of ${known(kubeconfig.contexts)}`);
  const fields = kubeconfig.contexts.get(context);
  if (fields === undefined)
    throw new Error(`${where}: there is no context '${context}'; known: ${known(kubeconfig.contexts)}`);
  const namespace = fields.string('namespace');
  const cluster = clusterPart(named(fields, 'cluster', kubeconfig.clusters));
  const user = fields.string('user') ? userPart(named(fields, 'user', kubeconfig.users), cluster) : {};
  return { ...cluster, ...user, ...(namespace ? { namespace } : {}) };
}

export interface LoadOptions extends KubeconfigOptions {
  readonly context?: string;
}

/** The configuration to use: from kubeconfig files if any exist, otherwise that of the pod this runs in. */
export function loadConfig(options: LoadOptions = {}): ConnectConfig {
  const kubeconfig = readKubeconfig(options);
  if (kubeconfig.files.length > 0) return contextConfig(kubeconfig, options.context);
  const config = inClusterConfig({ env: options.env });
  if (config !== undefined) return config;
  const searched = kubeconfigCandidates(options).join(delimiter);
  throw new NoClusterConfigured(
    `no cluster configured: ${searched} does not exist and this is not a pod; set KUBECONFIG or --kubeconfig`,
  );
}

/** There is no kubeconfig, and this process does not run in a pod. */
export class NoClusterConfigured extends Error {
  override readonly name = 'NoClusterConfigured';
}

function kubeconfigFiles(options: KubeconfigOptions): string[] {
  if (options.path !== undefined) return [options.path];
  return kubeconfigCandidates(options).filter((file) => existsSync(file));
}

/** The paths at which kubeconfig files are searched for, whether or not they exist. */
export function kubeconfigCandidates({ path, env = process.env }: KubeconfigOptions): string[] {
  if (path !== undefined) return [path];
  const listed = (env['KUBECONFIG'] ?? '').split(delimiter).filter((file) => file !== '');
  return listed.length > 0 ? listed : [join(env['HOME'] ?? homedir(), '.kube', 'config')];
}

function parseFile(file: string): KubeconfigFields {
  let value: unknown;
  try {
    value = parse(readFileSync(file, 'utf8'));
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new Error(`kubeconfig ${file}: ${code === 'ENOENT' ? 'the file does not exist' : message}`, { cause: error });
  }
  return new KubeconfigFields(`kubeconfig ${file}`, dirname(resolve(file)), '', value ?? {});
}

function collect(top: KubeconfigFields, list: string, item: string, into: Map<string, KubeconfigFields>): void {
  for (const entry of top.list(list)) {
    const name = entry.requiredString('name');
    if (!into.has(name)) into.set(name, entry.object(item) ?? entry.empty(item));
  }
}

function named(context: KubeconfigFields, field: string, entries: Entries): KubeconfigFields {
  const name = context.requiredString(field);
  const entry = entries.get(name);
  if (entry === undefined) throw context.error(field, `there is no ${field} '${name}'; known: ${known(entries)}`);
  return entry;
}

function known(entries: Entries): string {
  return entries.size === 0 ? '(none)' : [...entries.keys()].join(', ');
}
