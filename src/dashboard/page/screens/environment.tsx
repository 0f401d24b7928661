// One environment: which requests reach it and whether others are affected; the picture, the timeline, the tree.
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { EnvironmentDetail, Problem, TimelineStep } from '../../data.ts';
import { environmentSentence } from '../../sentences.ts';
import { ask, problemOf } from '../live/ask.ts';
import { useDetail, useLive, useNow } from '../live/hooks.ts';
import { Loading, Missing, ProblemBox } from '../parts/states.tsx';
import { callOf, Commands, Copy, Sentence, span, StateMark, Time } from '../parts/text.tsx';
import { More, Tree } from '../parts/tree.tsx';
import { TrafficPicture } from '../picture/picture.tsx';
import { go, Link } from '../router.tsx';
import { tryAddress } from './try-address.ts';

export function Environment({ namespace, name }: { readonly namespace: string; readonly name: string }): JSX.Element {
  const path = `/api/live/environments/${encodeURIComponent(namespace)}/${encodeURIComponent(name)}`;
  const { detail, problem } = useDetail<EnvironmentDetail>(path);
  const now = useNow();
  const { session } = useLive();
  if (detail === undefined && problem === undefined) return <Loading />;
  if (!detail) return <Missing what={`environment \`${namespace}/${name}\``} problem={problem} />;
  const { row, calls, timeline, picture, tree, conditions, events, yaml, commands, counterexample, mayDelete } = detail;
  const proved = row.isolation && Date.parse(row.isolation.lastTransitionTime);
  const own = callOf(row, session?.gateway);
  const reach = [...new Set([...(own === undefined ? [] : [own]), ...calls])];
  const ago = proved === undefined ? undefined : span(Math.max(0, now - proved));
  return (
    <>
      <Sentence text={environmentSentence(row, ago)} />
      <div class="facts">
        <StateMark tone={row.tone} state={row.state} />
        <span>
          {row.namespace}/<strong>{row.name}</strong>
        </span>
        <span class="muted">
          age <Time at={row.created} now={now} />
        </span>
        {row.expires !== undefined && (
          <span class="muted">
            expires <Time at={row.expires} now={now} />
          </span>
        )}
        {counterexample !== undefined && (
          <Link to={tryAddress(counterexample)} class="button">
            Try the affected request
          </Link>
        )}
        {session?.writes === true && mayDelete === true && <Delete namespace={namespace} name={name} />}
      </div>
      {reach.length > 0 && (
        <section class="card">
          <h2>Reach it</h2>
          <ul class="plain">
            {reach.slice(0, 4).map((call) => (
              <li key={call}>
                <Copy text={call} label="request" />
              </li>
            ))}
          </ul>
        </section>
      )}
      <TrafficPicture picture={picture} legend={`requests with ${row.carries}`} />
      <Timeline steps={timeline} now={now} />
      <section class="card">
        <h2>Parts</h2>
        <Tree node={tree} />
      </section>
      <More conditions={conditions} events={events} yaml={yaml} now={now} />
      <Commands lines={commands} />
    </>
  );
}

/** The steps, each with its time or what it waits for. */
function Timeline({ steps, now }: { readonly steps: readonly TimelineStep[]; readonly now: number }): JSX.Element {
  const [first] = steps;
  const begin = Date.parse(first?.at ?? '');
  return (
    <section class="card">
      <h2>Life line</h2>
      <ol class="timeline">
        {steps.map(({ label, state, at, note }, i) => (
          <li key={label} class={state}>
            <strong>{label}</strong>
            {at !== undefined && (
              <span class="muted number">
                {i === 0 ? (
                  <>
                    <Time at={at} now={now} /> ago
                  </>
                ) : (
                  `+${span(Math.max(0, Date.parse(at) - begin))}`
                )}
              </span>
            )}
            {at === undefined && state === 'done' && <span class="muted">done</span>}
            {note !== undefined && <span class="note">{note}</span>}
            {note === undefined && state === 'waiting' && <span class="note">waits for the previous step</span>}
          </li>
        ))}
      </ol>
    </section>
  );
}

function Delete({ namespace, name }: { readonly namespace: string; readonly name: string }): JSX.Element {
  const [isAsked, setAsked] = useState(false);
  const [problem, setProblem] = useState<Problem | undefined>(undefined);
  const remove = (): void => {
    ask('DELETE', `/api/environments/${encodeURIComponent(namespace)}/${encodeURIComponent(name)}`).then(
      () => go('/'),
      (error: unknown) => setProblem(problemOf(error)),
    );
  };
  if (problem !== undefined) return <ProblemBox problem={problem} />;
  if (!isAsked) {
    return (
      <button type="button" class="button end" onClick={() => setAsked(true)}>
        Delete…
      </button>
    );
  }
  return (
    <span class="end">
      Delete {name} and all that it made?{' '}
      <button type="button" class="button danger" onClick={remove}>
        Delete
      </button>{' '}
      <button type="button" class="button" onClick={() => setAsked(false)}>
        Keep
      </button>
    </span>
  );
}
