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

/** How good a word of an environment's status is. */
export function toneOf(state: string): Tone {
  if (['ready', 'running'].includes(state)) return 'good';
  if (['degraded', 'failed', 'missing', 'stalled'].includes(state)) return 'bad';
  return state.startsWith('ignored-') ? 'quiet' : 'busy';
}
