// Colours for people at a terminal; nobody else gets any. Called by whatever prints words that say how things are.
import { styleText } from 'node:util';

export type Tone = 'good' | 'busy' | 'bad' | 'quiet' | 'strong' | 'plain';
export type Paint = (tone: Tone, text: string) => string;

const STYLES = { good: 'green', busy: 'yellow', bad: 'red', quiet: 'gray', strong: 'bold' } as const;

/** Paints for a stream: not at all where it is no terminal, or NO_COLOR or --no-color says so. */
export function painter(stream: NodeJS.WriteStream): Paint {
  return (tone, text) => (tone === 'plain' ? text : styleText(STYLES[tone], text, { stream }));
}

/** Leaves every text as it is. */
export const unpainted: Paint = (_tone, text) => text;

const GOOD = new Set(['active', 'available', 'bound', 'present', 'provisioned', 'ready', 'running']);
const BAD = new Set(['blocking', 'degraded', 'error', 'failed', 'lost', 'missing', 'stalled', 'stuck']);

const QUIET = new Set(['asleep', 'hidden', 'paused']);

/** How good a word of a status is. */
export function toneOf(state: string): Tone {
  const word = state.toLowerCase();
  if (GOOD.has(word)) return 'good';
  if (BAD.has(word) || word.startsWith('unableto')) return 'bad';
  return QUIET.has(word) || word.startsWith('ignored-') ? 'quiet' : 'busy';
}
