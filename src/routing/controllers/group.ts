// The controller that reports in the status of a MeshGroup whether all its members exist.
import { MeshGroup } from '../../api/routing.ts';
import { defineController } from '../../controller/index.ts';
import type { ControllerDefinition, Plan, View } from '../../controller/index.ts';
import { keyOf } from '../../kube/index.ts';
import type { Mode } from '../model.ts';
import { groups } from '../models/decoded.ts';
import { findersIn } from '../models/plans.ts';
import { groupProblems } from '../resolve/targets.ts';
import { reportDelay } from './arrival.ts';
import { CONDITION, eventsFor, soloStatus } from './status.ts';

export function groupController(mode: Mode): ControllerDefinition {
  return defineController<MeshGroup>({
    name: 'routing-groups',
    kind: MeshGroup,
    plan: (view, group) => planGroup(view, group, mode),
  });
}

function planGroup(view: View, group: MeshGroup, mode: Mode): Plan {
  const decoded = view.read.get(view.model(groups), keyOf(group.metadata));
  if (decoded === undefined || group.metadata.deletionTimestamp !== undefined) return {};
  const find = findersIn(view);
  const rejected = 'invalid' in decoded ? [decoded.invalid] : groupProblems(decoded.value, find.mesh, find.group);
  const waitMs = reportDelay(view, { rejected, notProgrammed: [] });
  if (waitMs > 0) return { requeueAfterMs: waitMs };
  const { conditions = [], ...rest } = soloStatus(group, { rejected, notProgrammed: [] }, mode);
  // Groups have no resources, so they cannot be programmed.
  const status = { ...rest, conditions: conditions.filter(({ type }) => type !== CONDITION.programmed) };
  return { status, events: eventsFor(group, status) };
}
