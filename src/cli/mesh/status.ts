// `offshoot mesh status`: how the mesh is, as a tree.
import { describeMesh, meshWorld, versionLines } from '../../mesh/index.ts';
import type { MeshDescription } from '../../mesh/index.ts';
import { fetchFor } from '../objects/fetch.ts';
import { listOfKind } from '../objects/find.ts';
import { withConnection } from '../options.ts';
import type { ClusterOptions } from '../options.ts';
import { painter } from '../terminal/colour.ts';
import type { Paint } from '../terminal/colour.ts';
import { eventLines } from '../terminal/events.ts';
import { nameText, printResult } from '../terminal/output.ts';
import type { OutputFormat } from '../terminal/output.ts';
import { treeLines } from '../terminal/tree.ts';
import { refuseNamespace } from './namespace.ts';
import { ISTIO } from './nouns.ts';

export interface StatusOptions extends ClusterOptions {
  readonly output: OutputFormat;
}

/** Prints how the mesh is. */
export function meshStatusCommand({ output, ...options }: StatusOptions): Promise<void> {
  refuseNamespace(options);
  return withConnection(options, async ({ client }) => {
    // A cluster that does not know the kind is told apart from one that has no resource.
    const istios = await listOfKind(client, ISTIO, {});
    const description = await fetchFor(client, (read) => describeMesh(meshWorld(read), { pods: output !== 'table' }));
    printResult(output, {
      data: description,
      names: istios.map(nameText),
      lines: () => statusLines(description, painter(process.stdout)),
    });
  });
}

function statusLines({ resources, versions, events }: MeshDescription, paint: Paint): string[] {
  const trees = resources.flatMap((tree) => treeLines(tree, paint));
  const found = trees.length > 0 ? trees : ['There is no Istio resource in namespace kyma-system.'];
  return [...found, '', ...versionLines(versions), ...eventLines(events, paint, Date.now())];
}
