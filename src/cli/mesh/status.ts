// `offshoot mesh status`: shows the state of the mesh as a tree.
import { describeMesh, meshWorld, versionLines } from '../../mesh/index.ts';
import type { MeshDescription } from '../../mesh/index.ts';
import type { ObjectReader } from '../../api/description/reader.ts';
import { showChanges } from '../objects/describe.ts';
import { fetchFor } from '../objects/fetch.ts';
import { listOfKind } from '../objects/find.ts';
import { withConnection } from '../options.ts';
import type { ClusterOptions } from '../options.ts';
import { painter } from '../terminal/colour.ts';
import type { Paint } from '../terminal/colour.ts';
import { eventLines } from '../terminal/events.ts';
import { nameText, printResult } from '../terminal/output.ts';
import type { OutputFormat, Result } from '../terminal/output.ts';
import { treeLines } from '../terminal/tree.ts';
import { refuseNamespace } from './namespace.ts';
import { ISTIO } from './nouns.ts';

export interface StatusOptions extends ClusterOptions {
  readonly output: OutputFormat;
  readonly watch?: boolean;
}

export function meshStatusCommand({ output, watch, ...options }: StatusOptions): Promise<void> {
  refuseNamespace(options);
  return withConnection(options, async ({ client }) => {
    // Fails if the kind is not installed, unlike a cluster without an Istio resource.
    const istios = await listOfKind(client, ISTIO, {});
    const compute = (read: ObjectReader): Result => {
      const description = describeMesh(meshWorld(read), { pods: output !== 'table' });
      return {
        data: description,
        names: istios.map(nameText),
        lines: () => statusLines(description, painter(process.stdout)),
      };
    };
    if (watch) await showChanges(client, output, compute);
    else printResult(output, await fetchFor(client, compute));
  });
}

function statusLines({ resources, versions, events }: MeshDescription, paint: Paint): string[] {
  const trees = resources.flatMap((tree) => treeLines(tree, paint));
  const found = trees.length > 0 ? trees : ['There is no Istio resource in namespace kyma-system.'];
  return [...found, '', ...versionLines(versions), ...eventLines(events, paint, Date.now())];
}
