// `offshoot prove`: proves that environments do not affect the requests of others, in a cluster or in manifests.
import { DynamicEnv } from '../../api/dynamicenv.ts';
import { factsOf } from '../../controller/index.ts';
import type { Facts } from '../../controller/index.ts';
import {
  defaultSettings,
  environmentTables,
  ISOLATION,
  isolationText,
  proofData,
  proofLines,
  proveEnvironment,
} from '../../environments/index.ts';
import { tablesOf } from '../../kube/tables/of-objects.ts';
import type { Tables } from '../../kube/tables/tables.ts';
import type { Proof } from '../../traffic/index.ts';
import { untracked } from '../../watchable/index.ts';
import { ENVIRONMENT } from '../env/get.ts';
import { CommandFailed, EXIT, failure, interruptible } from '../exit.ts';
import { environmentOf } from '../explain/explain.ts';
import { manifestsOf } from '../explain/world.ts';
import { suggestionFor } from '../objects/find.ts';
import type { NamespacedName } from '../objects/find.ts';
import { refuseEmptyNamespace, refuseMissingNamespace } from '../objects/namespace.ts';
import { withTables } from '../objects/tables.ts';
import { withConnection } from '../options.ts';
import type { ClusterOptions } from '../options.ts';
import { environmentSettings } from '../run/environment-flags.ts';
import type { EnvironmentOptions } from '../run/environment-flags.ts';
import { painter } from '../terminal/colour.ts';
import type { Paint } from '../terminal/colour.ts';
import { printResult } from '../terminal/output.ts';
import type { DataFormat } from '../terminal/output.ts';

export interface ProveOptions extends ClusterOptions, EnvironmentOptions {
  readonly allNamespaces?: boolean;
  readonly world?: string;
  readonly output?: DataFormat;
}

interface Proven {
  readonly environment: string;
  readonly proof: Proof;
}

/** Prints the proofs; exit code 1 if one of them fails. */
export async function proveEnvironments(name: string | undefined, options: ProveOptions): Promise<void> {
  if (name !== undefined && options.allNamespaces) throw failure('ConflictingFlags', 'ENV and -A: give one of them');
  const { output } = options;
  const all = await provenBy(name, options);
  printResult(output, {
    data: { environments: all.map(({ environment, proof }) => proofData(environment, proof)) },
    lines: () => linesOf(all, painter(process.stdout)),
  });
  if (all.some(({ proof }) => proof.verdict === 'False')) throw new CommandFailed(EXIT.error);
}

async function provenBy(name: string | undefined, options: ProveOptions): Promise<readonly Proven[]> {
  const settings = { ...defaultSettings, ...environmentSettings(options) };
  const proveIn = (tables: Tables, namespace: string): readonly Proven[] => {
    const facts = factsOf(tables, untracked);
    return environmentsToProve(facts, name, options.allNamespaces ? undefined : namespace).map((ref) => ({
      environment: `${ref.namespace}/${ref.name}`,
      proof: proveEnvironment(facts, ref, settings)!,
    }));
  };
  if (options.world !== undefined) {
    const { namespace = 'default' } = options;
    const objects = manifestsOf(options.world, namespace);
    if (!options.allNamespaces) refuseEmptyNamespace(objects, environmentOf(name ?? '', namespace).namespace);
    return proveIn(tablesOf(environmentTables, objects), namespace);
  }
  return withConnection(options, async ({ client, namespace }) => {
    if (!options.allNamespaces) await refuseMissingNamespace(client, environmentOf(name ?? '', namespace).namespace);
    return interruptible((signal) =>
      withTables(client, environmentTables, signal, (tables) => proveIn(tables, namespace)),
    );
  });
}

/** The environments to prove. */
function environmentsToProve(
  facts: Facts,
  name: string | undefined,
  namespace: string | undefined,
): readonly NamespacedName[] {
  if (name === undefined) {
    const all = facts.list(DynamicEnv, namespace === undefined ? {} : { namespace });
    return all.map(({ metadata }) => ({ name: metadata.name, namespace: metadata.namespace ?? '' }));
  }
  const ref = environmentOf(name, namespace ?? '');
  if (facts.get(DynamicEnv, ref) !== undefined) return [ref];
  const others = facts.list(DynamicEnv, { namespace: ref.namespace });
  const hint = suggestionFor(ENVIRONMENT, ref.name, others);
  throw failure('NotFound', `there is no environment ${ref.name} in namespace ${ref.namespace}; ${hint}`);
}

const VERDICTS = {
  True: { tone: 'good', sign: '✓' },
  False: { tone: 'bad', sign: '✗' },
  Unknown: { tone: 'busy', sign: '?' },
} as const;

function linesOf(all: readonly Proven[], paint: Paint): readonly string[] {
  if (all.length === 0) return ['There are no environments here.'];
  const lines = all.flatMap(({ environment, proof }) => {
    const { tone, sign } = VERDICTS[proof.verdict];
    const title = `${paint(tone, sign)} ${environment} is ${isolationText(proof.verdict, proof.message)}`;
    return [title, ...proofLines(proof).map((line) => `    ${line}`)];
  });
  if (all.length === 1) return lines;
  const counts = (['True', 'False', 'Unknown'] as const).map(
    (verdict) => `${all.filter(({ proof }) => proof.verdict === verdict).length} ${ISOLATION[verdict]}`,
  );
  return [...lines, '', `${all.length} environments: ${counts.join(', ')}.`];
}
