// `offshoot mesh upgrade --to X.Y.Z --dry-run`: shows whether the mesh can be upgraded to a version, how, and what
// would change.
import { builtinRenderer, defaultMeshSettings, describeMesh, meshWorld, planUpgrade } from '../../mesh/index.ts';
import type { Upgrade } from '../../mesh/index.ts';
import { failure, interruptible } from '../exit.ts';
import { fetchFor } from '../objects/fetch.ts';
import { listOfKind } from '../objects/find.ts';
import { withConnection } from '../options.ts';
import type { ClusterOptions } from '../options.ts';
import type { MeshOptions } from '../run/mesh-flags.ts';
import { painter } from '../terminal/colour.ts';
import { version } from '../version/version.ts';
import { refuseNamespace } from './namespace.ts';
import { ISTIO } from './nouns.ts';
import { plannedMesh, printMeshPlan } from './plan.ts';
import { plannedSettings } from './settings.ts';
import type { DataFormat } from '../terminal/output.ts';

export interface UpgradeOptions extends ClusterOptions, MeshOptions {
  readonly to: string;
  readonly dryRun?: boolean;
  readonly output?: DataFormat;
}

/** Prints what an upgrade would do, with the exit codes of a plan. */
export async function upgradeCommand({ to, dryRun, output, ...options }: UpgradeOptions): Promise<void> {
  if (!dryRun) {
    throw failure(
      'MissingFlag',
      `mesh upgrade only shows what an upgrade would do: add --dry-run. The controllers upgrade the mesh to the version of their release, which is ${defaultMeshSettings.istioVersion} in Offshoot ${version()}`,
    );
  }
  refuseNamespace(options);
  await withConnection(options, async (connection) => {
    const { client } = connection;
    if ((await listOfKind(client, ISTIO, {})).length === 0) {
      throw failure(
        'NotFound',
        'there is no Istio resource, so there is no mesh to upgrade: "offshoot mesh status" shows what runs',
      );
    }
    const settings = { ...(await plannedSettings(connection, options)), istioVersion: to };
    const { versions } = await fetchFor(client, (read) => describeMesh(meshWorld(read), { istioVersion: to }));
    const { renderer } = settings;
    const upgrade = planUpgrade({
      versions,
      release: { version: version(), istioVersion: defaultMeshSettings.istioVersion },
      renderer: { name: renderer?.name ?? '', isForAny: renderer === builtinRenderer },
    });
    const plan = await interruptible((signal) => plannedMesh(client, [], settings, signal));
    if (output === undefined) console.log([...upgradeLines(upgrade), ''].join('\n'));
    const answer = { ...plan, upgrade };
    printMeshPlan(answer, output);
  });
}

function upgradeLines({ target, from, how, refusal, isThere }: Upgrade): string[] {
  const paint = painter(process.stdout);
  const step =
    from === undefined ? `To Istio ${target}; what runs now is not known.` : `From Istio ${from} to ${target}.`;
  if (refusal !== undefined) return [step, `${paint('bad', '!')} ${refusal}`, how];
  return isThere ? [how] : [step, how, 'The version gate allows it.'];
}
