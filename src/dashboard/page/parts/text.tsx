// Text: sentences with names in them, states, times, and lines to copy.
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { inTerminal } from '../../terminal.ts';
import { useLive } from '../live/hooks.ts';
import type { EntryPoint, EnvironmentRow, Tone } from '../../data.ts';

/** The heading of a screen; names are between backticks. */
export function Sentence({ text }: { readonly text: string }): JSX.Element {
  return (
    <h1 class="sentence" tabIndex={-1}>
      <Marked text={text} />
    </h1>
  );
}

/** Text with names between backticks. */
export function Marked({ text }: { readonly text: string }): JSX.Element {
  return <>{text.split('`').map((part, i) => (i % 2 === 1 ? <code>{part}</code> : part))}</>;
}

const ICONS: Readonly<Record<Tone, string>> = {
  good: 'M3 8.5l3.5 3.5L13 4.5',
  busy: 'M8 3v5l3 2',
  bad: 'M8 3.5v5.5M8 12v.5',
  idle: 'M4 8h8',
};

/** A state: icon, word and colour. */
export function StateMark({ tone, state }: { readonly tone: Tone; readonly state: string }): JSX.Element {
  return (
    <span class={`state ${tone}`}>
      <svg viewBox="0 0 16 16" aria-hidden="true">
        <path d={ICONS[tone]} />
      </svg>
      {state}
    </span>
  );
}

const GOOD = new Set(['ready', 'running', 'bound', 'available', 'active', 'true', 'provisioned']);
const BAD = /degraded|failed|error|missing|lost|rejected|shadowed|blocking|warning|stalled/i;
const IDLE = /deleting|absent|hidden|gone|elsewhere|released|asleep|paused|not made|not routed/i;

/** The tone of a word in a tree. */
export function toneOfWord(state: string): Tone {
  if (GOOD.has(state.toLowerCase())) return 'good';
  if (BAD.test(state)) return 'bad';
  return IDLE.test(state) ? 'idle' : 'busy';
}

const UNITS: readonly (readonly [ms: number, unit: string])[] = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'm'],
  [1_000, 's'],
];

/** A short duration: `3m`. */
export function span(ms: number): string {
  const [size, unit] = UNITS.find(([size]) => ms >= size) ?? [1_000, 's'];
  return `${Math.max(0, Math.floor(ms / size))}${unit}`;
}

/** How long ago a time was, or how long until it. */
export function Time({ at, now }: { readonly at: string; readonly now: number }): JSX.Element {
  const time = Date.parse(at);
  if (Number.isNaN(time)) return <span class="muted">–</span>;
  const text = time > now ? `in ${span(time - now)}` : span(now - time);
  return (
    <time dateTime={at} title={new Date(time).toLocaleString()} class="number">
      {text}
    </time>
  );
}

export function CopyButton({ text, label }: { readonly text: string; readonly label: string }): JSX.Element {
  const [isCopied, setCopied] = useState(false);
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(text);
    setCopied(true);
    setTimeout(() => setCopied(false), 1_200);
  };
  return (
    <button type="button" class="copy-button" onClick={() => void copy()} aria-label={`Copy ${label}`}>
      {isCopied ? 'copied' : 'copy'}
    </button>
  );
}

/** A line to copy. */
export function Copy({ text, label }: { readonly text: string; readonly label: string }): JSX.Element {
  return (
    <span class="copy">
      <code class="line" tabIndex={0} role="group" aria-label={label}>
        {text}
      </code>
      <CopyButton text={text} label={label} />
    </span>
  );
}

/** The command that sends a request to an environment; through the local gateway, if it serves the namespace. */
export function callOf(
  { call, namespace }: Pick<EnvironmentRow, 'call' | 'namespace'>,
  gateway: EntryPoint | undefined,
): string | undefined {
  if (gateway === undefined || gateway.namespace !== namespace || call?.includes('#') === true) return call;
  return call?.replace(/https?:\/\/\S+$/, gateway.url);
}

/** A command to copy, as it works in the user's terminal. */
export function CommandLine({ text }: { readonly text: string }): JSX.Element {
  const { session } = useLive();
  return <Copy text={inTerminal(text, session?.terminal)} label="command" />;
}

interface CommandsProps {
  readonly lines: readonly string[];
  /** What has to be done first. */
  readonly first?: string;
}

/** Commands that do the same in a terminal. */
export function Commands({ lines, first }: CommandsProps): JSX.Element {
  return (
    <section class="card">
      <h2>In a terminal</h2>
      {first !== undefined && (
        <p>
          <Marked text={first} />
        </p>
      )}
      <ul class="plain">
        {lines.map((line) => (
          <li key={line}>
            <CommandLine text={line} />
          </li>
        ))}
      </ul>
    </section>
  );
}
