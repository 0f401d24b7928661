// Formats Events, for the `describe` commands.
import type { RecentEvent } from '../../api/description/events.ts';
import type { Paint } from './colour.ts';
import { age } from './table.ts';

/** Events after an empty line and a heading. */
export function eventLines(events: readonly RecentEvent[], paint: Paint, now: number): string[] {
  if (events.length === 0) return [];
  const lines = events.map(({ time, type, reason, note }) => {
    const when = age(time, now).padStart(5);
    return `  ${paint('quiet', when)}  ${paint(type === 'Warning' ? 'bad' : 'plain', reason)}  ${note}`;
  });
  return ['', 'Events', ...lines];
}
