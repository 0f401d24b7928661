// The overview: all environments with their states, and the latest changes.
import type { JSX } from 'preact';
import type { EnvironmentRow, FeedItem } from '../../data.ts';
import { overviewSentence } from '../../sentences.ts';
import { useLive, useNow } from '../live/hooks.ts';
import type { State } from '../live/store.ts';
import { List, nameColumn } from '../parts/list.tsx';
import type { Column } from '../parts/list.tsx';
import { Empty, Loading } from '../parts/states.tsx';
import { callOf, CommandLine, Copy, CopyButton, Sentence, StateMark, Time } from '../parts/text.tsx';
import { addressOf, go, Link, useLocation } from '../router.tsx';

export function Overview(): JSX.Element {
  const { rows, feed, isLoaded, session } = useLive();
  const now = useNow();
  const { query } = useLocation();
  const find = query.get('q') ?? '';
  if (!isLoaded) return <Loading rows={6} />;
  const all = rows.environment;
  const shown = inOrder(all.filter((row) => fits(row, find)));
  return (
    <>
      <Sentence text={overviewSentence(all, session)} />
      {all.length === 0 ? (
        <NoEnvironment session={session} />
      ) : (
        <div class="with-feed">
          <section aria-label="Environments">
            <div class="toolbar">
              <Find value={find} label="Find environments, services, keys" />
              <span class="muted number" role="status">
                {shown.length === all.length
                  ? `${all.length} environment${all.length === 1 ? '' : 's'}`
                  : `${shown.length} of ${all.length}`}
              </span>
              <Link to="/plan" class="button">
                New environment
              </Link>
            </div>
            {shown.length === 0 ? (
              <Empty title={`No environment has \`${find}\` in its name, key or services.`} />
            ) : (
              <List label="Environments" rows={shown} columns={COLUMNS} now={now} />
            )}
          </section>
          <Feed feed={feed} now={now} />
        </div>
      )}
    </>
  );
}

function NoEnvironment({ session }: Pick<State, 'session'>): JSX.Element {
  if (session?.isRestricted === true) {
    const role = `kubectl create rolebinding dashboard -n NAMESPACE --clusterrole offshoot-dashboard-viewer --user ${session.user}`;
    return (
      <Empty title="There may be others. The owner of a namespace can give you access:">
        <Copy text={role} label="command" />
      </Empty>
    );
  }
  return (
    <Empty title="Create one: another version of a service, for requests that carry its key.">
      <Link to="/plan" class="button primary">
        Plan an environment
      </Link>
      <CommandLine text="offshoot env create pr-7 --subset reviews=reviews:2 --key pr-7" />
    </Empty>
  );
}

/** A search field for a list; the search text is part of the URL. */
export function Find({ value, label }: { readonly value: string; readonly label: string }): JSX.Element {
  const changed = (event: Event): void => {
    const text = (event.target as HTMLInputElement).value;
    go(text === '' ? location.pathname : `${location.pathname}?q=${encodeURIComponent(text)}`, { replace: true });
  };
  return <input type="search" data-find value={value} onInput={changed} placeholder="Find   /" aria-label={label} />;
}

function fits(row: EnvironmentRow, find: string): boolean {
  const text = [
    row.namespace,
    row.name,
    row.state,
    row.match,
    ...row.replaces.flatMap((each) => [each.workload, ...each.images]),
  ];
  return find
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.some((each) => each.toLowerCase().includes(word)));
}

const URGENCY = { bad: 0, busy: 1, good: 2, idle: 3 } as const;

/** Sorts by urgency, then newest first. */
function inOrder(rows: readonly EnvironmentRow[]): readonly EnvironmentRow[] {
  return rows.toSorted((a, b) => URGENCY[a.tone] - URGENCY[b.tone] || (a.created < b.created ? 1 : -1));
}

const COLUMNS: readonly Column<EnvironmentRow>[] = [
  { heading: 'State', class: 'c-state', cell: (row) => <StateMark tone={row.tone} state={row.state} /> },
  nameColumn('Environment'),
  {
    heading: 'Key',
    class: 'c-key',
    cell: (row) => <KeyCell row={row} />,
  },
  {
    heading: 'Replaces',
    class: 'c-replaces',
    cell: ({ replaces }) => (
      <span title={replaces.map(({ workload, images }) => `${workload} ${images.join(' ')}`).join(', ')}>
        {replaces.map(({ workload, images }) => (images[0] ?? workload).split('/').at(-1)).join(', ')}
      </span>
    ),
  },
  { heading: 'Isolation', class: 'c-isolation', cell: ({ isolation }) => <Isolation isolation={isolation} /> },
  { heading: 'Age', class: 'c-age', cell: ({ created }, now) => <Time at={created} now={now} /> },
  {
    heading: 'Expires',
    class: 'c-age c-expires',
    cell: ({ expires }, now) =>
      expires === undefined ? <span class="muted">never</span> : <Time at={expires} now={now} />,
  },
];

function Isolation({ isolation }: Pick<EnvironmentRow, 'isolation'>): JSX.Element {
  if (isolation === undefined) return <span class="muted">not proved</span>;
  const { status, word, message } = isolation;
  const tone = status === 'True' ? 'good' : status === 'False' ? 'bad' : 'busy';
  return (
    <span title={message}>
      <StateMark tone={tone} state={word} />
    </span>
  );
}

const TYPES: Readonly<Record<string, string>> = {
  DynamicEnv: 'environment',
  DeploymentTargetClaim: 'claim',
  DeploymentTarget: 'target',
  RoutingRule: 'rule',
  Istio: 'istio',
};

/** The environment's key, and a request to copy. */
function KeyCell({ row }: { readonly row: EnvironmentRow }): JSX.Element {
  const { session } = useLive();
  const call = callOf(row, session?.gateway);
  return (
    <span class="key" title={call}>
      <code>{row.carries}</code>
      {call !== undefined && <CopyButton text={call} label={`a request to ${row.name}`} />}
    </span>
  );
}

/** The latest changes, newest first. */
function Feed({ feed, now }: { readonly feed: readonly FeedItem[]; readonly now: number }): JSX.Element {
  return (
    <aside class="feed" aria-label="What changed">
      <h2>What changed</h2>
      {feed.length === 0 && <p class="muted">Nothing yet.</p>}
      <ul class="plain">
        {feed.slice(0, 20).map(({ id, kind, namespace, name, time, type, reason, note }) => (
          <li key={id}>
            <div>
              <Time at={time} now={now} />{' '}
              <Link to={addressOf(TYPES[kind] ?? 'environment', namespace, name)}>{name}</Link>{' '}
              <span class={type === 'Warning' ? 'bad-text' : 'muted'}>{reason}</span>
            </div>
            <p>{note}</p>
          </li>
        ))}
      </ul>
    </aside>
  );
}
