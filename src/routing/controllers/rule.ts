// The controller that reports the outcome of each rule. It writes only statuses.
import { RoutingRule } from '../../api/routing.ts';
import { defineController } from '../../controller/index.ts';
import type { ControllerDefinition, Plan, View } from '../../controller/index.ts';
import { keyOf } from '../../kube/index.ts';
import { keyOf as nameOf } from '../model.ts';
import type { Mode } from '../model.ts';
import type { Models } from '../models/index.ts';
import { ruleGauges } from '../gauges.ts';
import { reportDelay } from './arrival.ts';
import type { MeshBackend } from './backend.ts';
import { eventsFor, soloStatus, subresourceStatus } from './status.ts';
import type { Findings } from './status.ts';

export function ruleController(models: Models, backend: MeshBackend, mode: Mode): ControllerDefinition {
  return defineController<RoutingRule>({
    name: 'routing-rules',
    kind: RoutingRule,
    gauges: ruleGauges,
    plan: (view, rule) => planRule(view, rule, models, backend, mode),
  });
}

function planRule(view: View, rule: RoutingRule, models: Models, backend: MeshBackend, mode: Mode): Plan {
  if (rule.metadata.deletionTimestamp !== undefined) return {};
  const report = view.read.get(view.model(models.reports), keyOf(rule.metadata));
  if (report === undefined) return {};
  const { problem, meshes } = report;
  const rejections = meshes.flatMap(({ rejected }) => rejected ?? []);
  const accepted = meshes.filter(({ rejected }) => rejected === undefined);
  const isPartial = accepted.length > 0 && (problem !== undefined || rejections.length > 0);
  const wrong = [...(problem ? [problem] : []), ...rejections];
  const findings: Findings = {
    rejected: isPartial ? [] : wrong,
    notProgrammed: meshes.flatMap(({ failure }) => failure ?? []),
    isPending: accepted.some(({ key, hosts }) => !hosts.every((host) => backend.isProgrammed(view, key, host))),
    leftOut: isPartial ? wrong : [],
    warnings: meshes.flatMap(({ warnings }) => warnings),
  };
  const waitMs = reportDelay(view, { ...findings, rejected: [...findings.rejected, ...findings.notProgrammed] });
  if (waitMs > 0) return { requeueAfterMs: waitMs };
  const subresources = meshes.map((each) => {
    const problems = [each.rejected, each.failure].filter((found) => found !== undefined);
    return [nameOf(each.mesh), subresourceStatus(problems)];
  });
  const status = soloStatus(rule, findings, mode, {
    // The rule itself is valid; only its mesh failed.
    ...(findings.rejected.length === 0 && findings.notProgrammed.length > 0 && { state: 0 }),
    ...(subresources.length > 0 && { subresource_statuses: Object.fromEntries(subresources) as object }),
  });
  return { status, events: eventsFor(rule, status) };
}
