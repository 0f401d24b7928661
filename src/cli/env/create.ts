// `offshoot env create` and `apply`: build the manifest of an environment, apply it, and wait for it with --wait. From
// flags, `create` does not change an existing environment; `apply` does.
import type { DynamicEnv } from '../../api/dynamicenv.ts';
import { baseProblem, Deployment, validateCreate, validateUpdate } from '../../environments/index.ts';
import type { Client } from '../../kube/client/client.ts';
import { isNotFound } from '../../kube/errors.ts';
import { keyOf } from '../../kube/objects.ts';
import { jsonEqual } from '../../watchable/index.ts';
import { applyEnvironment } from './apply.ts';
import { environmentsIn } from './check.ts';
import { ENVIRONMENT } from './get.ts';
import { buildManifest, parseFlags, withContainer } from './manifest.ts';
import type { Base, ManifestFlags, Override, ParsedFlags } from './manifest.ts';
import { waitReady } from './wait.ts';
import { CommandFailed, failure, messageOf } from '../exit.ts';
import { listAll } from '../objects/follow.ts';
import { findByName } from '../objects/find.ts';
import { refuseMissingNamespace } from '../objects/namespace.ts';
import { withConnection } from '../options.ts';
import type { ClusterOptions, DryRun } from '../options.ts';
import { objectPrinter } from '../terminal/output.ts';
import type { OutputFormat } from '../terminal/output.ts';

export interface CreateOptions extends ClusterOptions, ManifestFlags {
  readonly filename?: readonly string[];
  readonly output?: OutputFormat;
  readonly dryRun: DryRun;
  readonly forceConflicts?: boolean;
  readonly wait?: boolean;
  readonly timeout: number;
}

/** The flags that build a manifest; they can't be combined with `-f`. */
const MANIFEST_FLAGS = {
  subset: '--subset',
  consumer: '--consumer',
  key: '--key',
  header: '--header',
  sourceLabel: '--source-label',
  env: '--env',
  replicas: '--replicas',
  ttl: '--ttl',
} as const;

/** Creates the environment that the flags describe, or those in files. */
export async function createEnvironments(
  name: string | undefined,
  options: CreateOptions,
  verb: 'create' | 'apply' = 'create',
): Promise<void> {
  const printer = objectPrinter(options.output);
  if (options.dryRun === 'client') {
    const environments = await manifestsWithoutWriting(name, options);
    for (const env of environments) refuseInvalid(env, validateCreate(env));
    for (const env of environments) printer.print(env, verb === 'create' ? 'created (dry run)' : 'applied (dry run)');
    return printer.end();
  }
  return withConnection(options, async ({ client, namespace }) => {
    const manifests = options.filename
      ? fromFiles(name, options, namespace)
      : [await fromFlags(client, parsedFlags(name, options, namespace))];
    // Everything is checked before anything is written.
    const checked: Checked[] = [];
    for (const manifest of manifests) checked.push(await check(client, manifest, options, verb));
    const { forceConflicts: force = false } = options;
    const applied: DynamicEnv[] = [];
    for (const { manifest, before, checked: answer } of checked) {
      const after =
        options.dryRun === 'server' ? answer : await applyEnvironment(client, manifest, { dryRun: false, force });
      printer.print(after, outcome(before, after, options.dryRun === 'server'));
      applied.push(after);
    }
    printer.end();
    if (options.wait && options.dryRun === 'none') {
      for (const env of applied) await waitReady(client, env, options.timeout);
    }
  });
}

/** The manifests of a client dry run. The cluster is needed only to look up containers that are not named. */
async function manifestsWithoutWriting(
  name: string | undefined,
  options: CreateOptions,
): Promise<readonly DynamicEnv[]> {
  const { namespaceWithoutCluster } = await import('../objects/cluster-hint.ts');
  const namespace = namespaceWithoutCluster(options);
  if (options.filename) return fromFiles(name, options, namespace);
  const flags = parsedFlags(name, options, namespace);
  const unnamed = flags.overrides.find(({ container }) => container === undefined);
  if (unnamed === undefined) return [buildManifest(flags, () => undefined)];
  try {
    return await withConnection(options, async ({ client }) => [await fromFlags(client, flags, 'later')]);
  } catch (error) {
    if (error instanceof CommandFailed) throw error;
    const { flag, text } = unnamed;
    throw failure(
      'InvalidFlag',
      `${flag} "${text}": its container is looked up in the cluster (${messageOf(error)}); name it as ${withContainer(unnamed)}`,
    );
  }
}

function fromFiles(name: string | undefined, options: CreateOptions, namespace: string): readonly DynamicEnv[] {
  if (name !== undefined)
    throw failure('ConflictingFlags', `NAME "${name}": with -f, names come from the files; omit it`);
  for (const [option, flag] of Object.entries(MANIFEST_FLAGS)) {
    if (options[option as keyof ManifestFlags] !== undefined) {
      throw failure('ConflictingFlags', `${flag} can't be used together with -f: write it into the file`);
    }
  }
  return environmentsIn(options.filename!, options, namespace);
}

function parsedFlags(name: string | undefined, options: CreateOptions, namespace: string): ParsedFlags {
  if (name === undefined)
    throw failure('MissingArgument', 'NAME is missing: name the environment, or give a file with -f');
  return parseFlags(name, namespace, options);
}

/** A manifest for `later` may refer to Deployments that do not exist in this cluster. */
async function fromFlags(client: Client, flags: ParsedFlags, when: 'now' | 'later' = 'now'): Promise<DynamicEnv> {
  const bases = new Map<string, Base>();
  for (const override of flags.overrides) {
    const key = keyOf(override);
    if (!bases.has(key))
      bases.set(key, { ...(await readBase(client, override)), ...(when === 'later' && { isForLater: true }) });
  }
  return buildManifest(flags, (override) => bases.get(keyOf(override)));
}

async function readBase(client: Client, { name, namespace, flag, text }: Override): Promise<Base> {
  try {
    const found = await client.get(Deployment, { name, namespace });
    const problem = baseProblem(found);
    if (problem !== undefined) throw failure('InvalidFlag', `${flag} "${text}": ${problem}`);
    return { found };
  } catch (error) {
    if (!isNotFound(error)) throw error;
    const deployments = await listAll(client, Deployment, { namespace });
    if (deployments.length === 0) await refuseMissingNamespace(client, namespace);
    const own = deployments.filter((each) => baseProblem(each) === undefined);
    return { others: own.map(({ metadata }) => metadata.name) };
  }
}

interface Checked {
  readonly manifest: DynamicEnv;
  readonly before: DynamicEnv | undefined;
  /** As the server would store it. */
  readonly checked: DynamicEnv;
}

/** Validates a manifest by a server-side dry run and by our own admission rules. */
async function check(
  client: Client,
  manifest: DynamicEnv,
  { filename, forceConflicts: force = false }: CreateOptions,
  verb: 'create' | 'apply',
): Promise<Checked> {
  const before = await findByName(client, ENVIRONMENT, refOf(manifest));
  if (before !== undefined && filename === undefined && verb === 'create') refuseDifferent(before, manifest);
  const checked = await applyEnvironment(client, manifest, { dryRun: true, force });
  const verdict = before === undefined ? validateCreate(checked) : validateUpdate(before, checked);
  refuseInvalid(manifest, verdict);
  return { manifest, before, checked };
}

function refuseInvalid({ metadata }: DynamicEnv, verdict: ReturnType<typeof validateCreate>): void {
  if (!verdict.allowed) throw failure('Invalid', verdict.status.message ?? `environment ${keyOf(metadata)} is refused`);
}

/** Throws if a different environment with this name exists. */
function refuseDifferent(before: DynamicEnv, { spec }: DynamicEnv): void {
  if (jsonEqual(before.spec, spec)) return;
  throw failure(
    'AlreadyExists',
    `environment ${keyOf(before.metadata)} already exists and is different: choose another name, or delete it first (offshoot env apply changes it)`,
  );
}

function outcome(before: DynamicEnv | undefined, after: DynamicEnv, dryRun: boolean): string {
  const unchanged = before?.metadata.resourceVersion === after.metadata.resourceVersion;
  const word = before === undefined ? 'created' : unchanged ? 'unchanged' : 'configured';
  return dryRun ? `${word} (server dry run)` : word;
}

function refOf({ metadata }: DynamicEnv): { name: string; namespace: string } {
  return { name: metadata.name, namespace: metadata.namespace! };
}
