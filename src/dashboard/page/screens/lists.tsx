// Claims with their targets, and routing rules: as lists, and one object in detail.
import type { JSX } from 'preact';
import type { ClaimRow, ObjectDetail, Row, RuleRow, TargetRow } from '../../data.ts';
import { listSentence } from '../../sentences.ts';
import { useDetail, useLive, useNow } from '../live/hooks.ts';
import { List, nameColumn } from '../parts/list.tsx';
import type { Column } from '../parts/list.tsx';
import { Empty, Loading, Missing } from '../parts/states.tsx';
import { CommandLine, Commands, Sentence, StateMark, Time } from '../parts/text.tsx';
import { More, Tree } from '../parts/tree.tsx';
import { Find } from './overview.tsx';
import { useChoices } from './try.tsx';
import { useLocation } from '../router.tsx';

const stateColumn = <R extends Row>(): Column<R> => ({
  heading: 'State',
  class: 'c-state',
  cell: (row) => <StateMark tone={row.tone} state={row.state} />,
});
const ageColumn = <R extends Row>(): Column<R> => ({
  heading: 'Age',
  class: 'c-age',
  cell: (row, now) => <Time at={row.created} now={now} />,
});

const CLAIMS: readonly Column<ClaimRow>[] = [
  stateColumn(),
  nameColumn('Claim'),
  { heading: 'Class', class: 'c-key', cell: ({ className }) => className || <span class="muted">none</span> },
  { heading: 'Target', class: 'c-replaces', cell: ({ target }) => target ?? <span class="muted">not yet</span> },
  ageColumn(),
  {
    heading: 'Expires',
    class: 'c-age c-expires',
    cell: ({ expires }, now) =>
      expires === undefined ? <span class="muted">never</span> : <Time at={expires} now={now} />,
  },
];
const TARGETS: readonly Column<TargetRow>[] = [
  stateColumn(),
  nameColumn('Target'),
  { heading: 'Place', class: 'c-key', cell: ({ place }) => place || <span class="muted">not known</span> },
  { heading: 'Claim', class: 'c-replaces', cell: ({ claim }) => claim ?? <span class="muted">free</span> },
  ageColumn(),
];
const RULES: readonly Column<RuleRow>[] = [
  stateColumn(),
  nameColumn('Rule'),
  { heading: 'Mesh', class: 'c-key', cell: ({ mesh }) => mesh || <span class="muted">none</span> },
  ageColumn(),
];

const filtered = <R extends Row>(rows: readonly R[], find: string): readonly R[] =>
  rows.filter(({ namespace, name, state }) =>
    `${namespace}/${name} ${state}`.toLowerCase().includes(find.toLowerCase()),
  );

export function Claims(): JSX.Element {
  const { rows, isLoaded, session } = useLive();
  const now = useNow();
  const find = useLocation().query.get('q') ?? '';
  if (!isLoaded) return <Loading />;
  return (
    <>
      <Sentence text={listSentence('claim', rows.claim, session)} />
      {rows.claim.length === 0 ? (
        <NoClaim />
      ) : (
        <>
          <div class="toolbar">
            <Find value={find} label="Find claims and targets" />
          </div>
          <List label="Claims" rows={filtered(rows.claim, find)} columns={CLAIMS} now={now} />
        </>
      )}
      {rows.target.length > 0 && (
        <>
          <h2>Targets</h2>
          <List label="Targets" rows={filtered(rows.target, find)} columns={TARGETS} now={now} />
        </>
      )}
    </>
  );
}

const CLASS = `kubectl apply -f - <<'EOF'
apiVersion: appstudio.redhat.com/v1alpha1
kind: DeploymentTargetClass
metadata:
  name: preview
spec:
  provisioner: offshoot.dev/namespace
  reclaimPolicy: Delete
EOF`;

/** How to create the first claim, and a class if there is none. */
function NoClaim(): JSX.Element {
  const { classes } = useChoices();
  const [first = classes === undefined ? 'CLASS' : 'preview'] = classes ?? [];
  return (
    <Empty title="A claim requests a deployment target: a namespace with credentials.">
      {classes?.length === 0 && (
        <>
          <p>There is no class of targets yet. Create one first:</p>
          <CommandLine text={CLASS} />
          <p>Then the claim:</p>
        </>
      )}
      <CommandLine text={`offshoot claim create my-claim --class ${first}`} />
    </Empty>
  );
}

export function Rules(): JSX.Element {
  const { rows, isLoaded, session } = useLive();
  const now = useNow();
  const find = useLocation().query.get('q') ?? '';
  if (!isLoaded) return <Loading />;
  return (
    <>
      <Sentence text={listSentence('rule', rows.rule, session)} />
      {rows.rule.length === 0 ? (
        <Empty title="A routing rule says how requests are routed, in any mesh.">
          <CommandLine text="offshoot routing --help" />
        </Empty>
      ) : (
        <>
          <div class="toolbar">
            <Find value={find} label="Find rules" />
          </div>
          <List label="Routing rules" rows={filtered(rows.rule, find)} columns={RULES} now={now} />
        </>
      )}
    </>
  );
}

interface ObjectProps {
  readonly type: 'claim' | 'target' | 'rule';
  readonly namespace: string;
  readonly name: string;
}

/** A claim, a target or a rule. */
export function OtherObject({ type, namespace, name }: ObjectProps): JSX.Element {
  const path = `/api/live/${type}s/${encodeURIComponent(namespace)}/${encodeURIComponent(name)}`;
  const { detail, problem } = useDetail<ObjectDetail>(path);
  const now = useNow();
  if (detail === undefined && problem === undefined) return <Loading />;
  if (!detail) return <Missing what={`${type} \`${namespace}/${name}\``} problem={problem} />;
  return (
    <>
      <Sentence text={detail.sentence} />
      <section class="card">
        <h2>Parts</h2>
        <Tree node={detail.tree} />
      </section>
      <More conditions={detail.conditions} events={detail.events} yaml={detail.yaml} now={now} />
      <Commands lines={detail.commands} />
    </>
  );
}
