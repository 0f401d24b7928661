// `offshoot doctor`: finds what would stop environments from working, in a cluster or in manifests.
import { factsOf } from '../../controller/index.ts';
import { confirmed, defaultSettings, diagnose, doctorTables, hasOrphans } from '../../environments/index.ts';
import type { DiagnoseOptions, Diagnosis, Finding } from '../../environments/index.ts';
import { tablesOf } from '../../kube/tables/of-objects.ts';
import type { Tables } from '../../kube/tables/tables.ts';
import { untracked } from '../../watchable/index.ts';
import { CommandFailed, EXIT, interruptible } from '../exit.ts';
import { manifestsOf } from '../explain/world.ts';
import { refuseEmptyNamespace, refuseMissingNamespace } from '../objects/namespace.ts';
import { withTables } from '../objects/tables.ts';
import { withConnection } from '../options.ts';
import type { ClusterOptions } from '../options.ts';
import { environmentSettings } from '../run/environment-flags.ts';
import type { EnvironmentOptions } from '../run/environment-flags.ts';
import { isEmbeddedVersion, kubernetesVersion } from '../version/kubernetes.ts';
import { painter } from '../terminal/colour.ts';
import type { Paint } from '../terminal/colour.ts';
import { printResult } from '../terminal/output.ts';
import type { DataFormat } from '../terminal/output.ts';

export interface DoctorOptions extends ClusterOptions, EnvironmentOptions {
  readonly allNamespaces?: boolean;
  readonly world?: string;
  readonly output?: DataFormat;
}

/** Prints the findings; exit code 1 if there is an error among them. */
export async function doctor(options: DoctorOptions): Promise<void> {
  const { output } = options;
  const found = await diagnosed(options);
  printResult(output, { data: found, lines: () => linesOf(found, painter(process.stdout)) });
  if (found.findings.some(({ severity }) => severity === 'error')) throw new CommandFailed(EXIT.error);
}

async function diagnosed(options: DoctorOptions): Promise<Diagnosis> {
  const settings = { ...defaultSettings, ...environmentSettings(options) };
  const diagnoseIn = (tables: Tables, namespace: string, of: Omit<DiagnoseOptions, 'namespace'> = {}): Diagnosis =>
    diagnose(factsOf(tables, untracked), settings, { ...(!options.allNamespaces && { namespace }), ...of });
  if (options.world !== undefined) {
    const { namespace = 'default' } = options;
    const objects = manifestsOf(options.world, namespace);
    if (!options.allNamespaces) refuseEmptyNamespace(objects, namespace);
    return diagnoseIn(tablesOf(doctorTables, objects), namespace);
  }
  return withConnection(options, async ({ client, namespace }) => {
    if (!options.allNamespaces) await refuseMissingNamespace(client, namespace);
    const isEmbedded = isEmbeddedVersion(await kubernetesVersion(client));
    const of = { isEmbedded, isCluster: true };
    return interruptible(async (signal) => {
      const look = () => withTables(client, doctorTables, signal, (tables) => diagnoseIn(tables, namespace, of));
      const found = await look();
      return hasOrphans(found) ? confirmed(await look(), found) : found;
    });
  });
}

const TONES = { error: 'bad', warning: 'busy', note: 'quiet' } as const;

function linesOf({ workloads, findings }: Diagnosis, paint: Paint): string[] {
  const count = (severity: Finding['severity'], name: string): string => {
    const number = findings.filter((each) => each.severity === severity).length;
    return `${number} ${name}${number === 1 ? '' : 's'}`;
  };
  const all = `${workloads} ${workloads === 1 ? 'workload' : 'workloads'} with a Service`;
  return [
    ...findings.flatMap(({ severity, kind, object, message, advice }) => [
      `${paint(TONES[severity], severity)}: ${kind} ${object}: ${message}`,
      `    ${advice}`,
    ]),
    ...(findings.length === 0
      ? [`${all}: ${workloads === 0 ? 'nothing was examined' : 'nothing keeps environments from working'}.`]
      : []),
    ...(findings.length > 0
      ? ['', `${all}: ${count('error', 'error')}, ${count('warning', 'warning')}, ${count('note', 'note')}.`]
      : []),
  ];
}
