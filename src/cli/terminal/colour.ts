// Colours for states, on terminals only.
import { styleText } from 'node:util';

export type Tone = 'good' | 'busy' | 'bad' | 'quiet' | 'strong' | 'plain';
export type Paint = (tone: Tone, text: string) => string;

const STYLES = { good: 'green', busy: 'yellow', bad: 'red', quiet: 'gray', strong: 'bold' } as const;

/** Colours text for a stream; not if it is not a terminal, or with NO_COLOR or --no-color. */
export function painter(stream: NodeJS.WriteStream): Paint {
  return (tone, text) => (tone === 'plain' ? text : styleText(STYLES[tone], text, { stream }));
}

/** Leaves text uncoloured. */
export const unpainted: Paint = (_tone, text) => text;

const GOOD = new Set(['active', 'available', 'bound', 'present', 'provisioned', 'ready', 'running']);
const BAD = new Set(['blocking', 'degraded', 'error', 'failed', 'lost', 'missing', 'stalled', 'stuck']);

const QUIET = new Set(['asleep', 'hidden', 'paused']);

/** The tone of a state. */
export function toneOf(state: string): Tone {
  const word = state.toLowerCase();
  if (GOOD.has(word)) return 'good';
  if (BAD.has(word) || word.startsWith('unableto')) return 'bad';
  return QUIET.has(word) || word.startsWith('ignored-') ? 'quiet' : 'busy';
}
