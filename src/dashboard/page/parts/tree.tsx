// The parts that all details share: the tree of an object, its conditions, Events and YAML.
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { RecentEvent } from '../../../api/description/events.ts';
import type { TreeNode } from '../../../api/description/tree.ts';
import type { Condition } from '../../../controller/index.ts';
import { StateMark, Time, toneOfWord } from './text.tsx';

/** A tree of objects; each with its state and the reasons for it. */
export function Tree({ node }: { readonly node: TreeNode }): JSX.Element {
  return (
    <ul class="tree">
      <Branch node={node} />
    </ul>
  );
}

function Branch({ node }: { readonly node: TreeNode }): JSX.Element {
  const { kind, name, state, detail, reasons = [], children = [] } = node;
  return (
    <li>
      <div class="part">
        <span class="kind">{kind}</span> <span class="name">{name}</span>{' '}
        <StateMark tone={toneOfWord(state)} state={state} />
        {detail !== undefined && <span class="muted"> {detail}</span>}
      </div>
      {reasons.map((reason) => (
        <p key={reason} class="reason">
          {reason}
        </p>
      ))}
      {children.length > 0 && (
        <ul>
          {children.map((child) => (
            <Branch key={`${child.kind} ${child.name}`} node={child} />
          ))}
        </ul>
      )}
    </li>
  );
}

interface MoreProps {
  readonly conditions?: readonly Condition[];
  readonly events: readonly RecentEvent[];
  readonly yaml?: string;
  readonly now: number;
}

/** Conditions, Events and YAML, one at a time. */
export function More({ conditions = [], events, yaml, now }: MoreProps): JSX.Element {
  const tabs = ['Events', ...(conditions.length > 0 ? ['Conditions'] : []), ...(yaml === undefined ? [] : ['YAML'])];
  const [shown, show] = useState('Events');
  return (
    <section class="card">
      <div class="tabs" role="group" aria-label="More details">
        {tabs.map((tab) => (
          <button key={tab} type="button" aria-pressed={shown === tab} onClick={() => show(tab)}>
            {tab}
          </button>
        ))}
      </div>
      {shown === 'Events' && <Events events={events} now={now} />}
      {shown === 'Conditions' && <Conditions conditions={conditions} now={now} />}
      {shown === 'YAML' && (
        <pre class="yaml" tabIndex={0} role="group" aria-label="YAML">
          {yaml}
        </pre>
      )}
    </section>
  );
}

function Events({ events, now }: { readonly events: readonly RecentEvent[]; readonly now: number }): JSX.Element {
  if (events.length === 0) return <p class="muted">No recent events.</p>;
  return (
    <ul class="events">
      {[...events].reverse().map(({ time, type, reason, note }) => (
        <li key={`${time} ${reason} ${note}`}>
          <Time at={time} now={now} />
          <span class={`reason-word ${type === 'Warning' ? 'bad' : ''}`}>{reason}</span>
          <span>{note}</span>
        </li>
      ))}
    </ul>
  );
}

function Conditions({
  conditions,
  now,
}: {
  readonly conditions: readonly Condition[];
  readonly now: number;
}): JSX.Element {
  return (
    <ul class="events">
      {conditions.map(({ type, status, reason, message, lastTransitionTime }) => (
        <li key={type}>
          <Time at={lastTransitionTime} now={now} />
          <span class="reason-word">
            {type}={status}
          </span>
          <span>
            {reason}
            {message !== '' && `: ${message}`}
          </span>
        </li>
      ))}
    </ul>
  );
}
