// The assumed settings of the controllers, for commands that show what they would do.
import { defineKind } from '../../kube/objects.ts';
import type { KubeObject } from '../../kube/objects.ts';
import { builtinRenderer } from '../../mesh/index.ts';
import type { MeshSettings } from '../../mesh/index.ts';
import type { Connection } from '../options.ts';
import { meshSettings } from '../run/mesh-flags.ts';
import type { MeshOptions } from '../run/mesh-flags.ts';
import { version } from '../version/version.ts';

interface Node extends KubeObject {
  readonly status?: { readonly nodeInfo?: { readonly osImage?: string } };
}

const Node = defineKind<Node>('v1', 'Node', 'nodes', { namespaced: false });

/** The settings of the flags; on a cluster of "offshoot up", whose nodes are simulated, with the built-in renderer. */
export async function plannedSettings({ client }: Connection, options: MeshOptions): Promise<Partial<MeshSettings>> {
  const { items: nodes } = await client.list(Node, { limit: 1 });
  const isSimulated = nodes.some(({ status }) => status?.nodeInfo?.osImage === 'simulated');
  return {
    ...meshSettings(options),
    operatorVersion: version(),
    ...(isSimulated && { renderer: builtinRenderer }),
  };
}
