// Sets missing fields of a space: first its tier, then its cluster.
import { Space } from '../../api/spaces.ts';
import { defineController } from '../../controller/index.ts';
import type { ControllerDefinition, Plan } from '../../controller/index.ts';
import { edit } from '../../kube/index.ts';
import type { Settings } from '../settings.ts';

export function spaceCompletion(settings: Settings): ControllerDefinition {
  return defineController<Space>({
    name: 'space-completion',
    kind: Space,
    ownsStatus: false,
    plan: (_view, space) => planCompletion(space, settings),
  });
}

/** Plans the missing fields of one space. */
export function planCompletion(space: Space, { cluster, defaultTier }: Settings): Plan {
  const { tierName = '', targetCluster = '', targetClusterRoles = [] } = space.spec;
  if (space.metadata.deletionTimestamp !== undefined) return {};
  const fill = (spec: Partial<Space['spec']>): Plan => ({
    steps: [edit(Space, space, { ...space, spec: { ...space.spec, ...spec } })],
  });
  if (tierName === '') return defaultTier === '' ? {} : fill({ tierName: defaultTier });
  const isOffered = targetClusterRoles.every((role) => cluster.roles.includes(role));
  return targetCluster === '' && isOffered ? fill({ targetCluster: cluster.name }) : {};
}
