// Generates the tables of condition reasons in the troubleshooting page, one per kind, from the catalogues that also
// define the types of the conditions.
import type { ReasonCatalogue, ReasonEntry } from '../../src/controller/index.ts';
import { FAILURE_REASONS } from '../../src/controller/reasons.ts';
import * as environments from '../../src/environments/reasons.ts';
import { REASONS as MESH_REASONS } from '../../src/mesh/status/conditions.ts';
import * as mesh from '../../src/mesh/reasons.ts';
import * as routing from '../../src/routing/reasons.ts';
import * as targets from '../../src/targets/reasons.ts';
import { table } from './markdown.ts';

interface Section {
  readonly title: string;
  readonly text: string;
  readonly catalogue: ReasonCatalogue;
}

/** The catalogues of all kinds, with the room that uses them. */
export const SECTIONS: readonly (Section & { readonly room: string })[] = [
  {
    title: 'DynamicEnv',
    room: 'environments',
    text: '`Reconciling` and `Stalled` have the reason of `Ready`. `WorkloadsReady` also has the reasons that Kubernetes gives for Deployments and pods, of which the last rows are the usual ones.',
    catalogue: environments.REASONS,
  },
  {
    title: 'DeploymentTargetClaim',
    room: 'targets',
    text: 'See [targets](../guide/targets.md).',
    catalogue: targets.CLAIM_REASONS,
  },
  { title: 'DeploymentTarget', room: 'targets', text: '', catalogue: targets.TARGET_REASONS },
  {
    title: 'Environment',
    room: 'targets',
    text: 'An Environment without a problem has no conditions. Once the cause is fixed, the reason of `Reconciled` and `ErrorOccurred` ends in `Resolved`; five minutes later both conditions are removed.',
    catalogue: targets.ENVIRONMENT_REASONS,
  },
  { title: 'Space and SpaceRequest', room: 'targets', text: '', catalogue: targets.SPACE_REASONS },
  {
    title: 'Istio',
    room: 'mesh',
    text: '`Stalled` has the reason of the failure. See [the mesh](../guide/mesh.md).',
    catalogue: { ...byCondition(mesh.ADVICE), Reconciling: mesh.RECONCILING },
  },
  {
    title: 'RoutingRule, Mesh and MeshGroup',
    room: 'routing',
    text: 'Any other reason is a [code of routing diagnostics](../reference/routing-codes.md).',
    catalogue: routing.REASONS,
  },
  {
    title: 'Every kind',
    room: 'controller',
    text: 'When a reconcile fails as a whole:',
    catalogue: FAILURE_REASONS,
  },
];

/** All tables as Markdown. */
export function reasonTables(): string {
  return SECTIONS.flatMap(({ title, text, catalogue }) => [
    `### ${title}`,
    ...(text === '' ? [] : [text]),
    table(
      ['Condition', 'Reason', 'Meaning', 'What to do'],
      [
        ...rowsOf(catalogue),
        ...(title === 'DynamicEnv' ? rowsOf({ WorkloadsReady: environments.KUBERNETES_REASONS }) : []),
      ],
    ),
  ]).join('\n\n');
}

/** One row per reason; conditions with the same reason and meaning share it. */
function rowsOf(catalogue: ReasonCatalogue): string[][] {
  const entries = Object.entries(catalogue).flatMap(([condition, reasons]) =>
    Object.entries(reasons).map(([reason, entry]) => ({ condition, reason, ...entry })),
  );
  const groups = Map.groupBy(entries, ({ reason, meaning }) => `${reason}: ${meaning}`);
  return [...groups.values()].map((group) => {
    const { reason, meaning, advice } = group[0]!;
    const conditions = group.map(({ condition }) => `\`${condition}\``).join(', ');
    return [conditions, `\`${reason}\``, meaning, advice];
  });
}

function byCondition(advice: typeof mesh.ADVICE): ReasonCatalogue {
  const catalogue: Record<string, Record<string, ReasonEntry>> = {};
  for (const [reason, { type }] of Object.entries(MESH_REASONS)) {
    (catalogue[type] ??= {})[reason] = advice[reason as keyof typeof MESH_REASONS];
  }
  return catalogue;
}
