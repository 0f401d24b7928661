// Maintenance windows: the times of the week at which a workload may be restarted, in UTC, such as `Sat-Sun
// 00:00-04:00`.

const DAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

export interface MaintenanceWindow {
  /** The days on which it opens; 0 is Sunday. */
  readonly days: readonly number[];
  /** Milliseconds after midnight. A window that ends before it starts ends on the next day. */
  readonly from: number;
  readonly to: number;
}

/** Parses `Mon-Fri 22:00-04:00`, `Sat,Sun 00:00-24:00` or `02:00-03:00`; undefined if it is invalid. */
export function parseWindow(text: string): MaintenanceWindow | undefined {
  const [, daysText, ...times] = /^\s*(?:([A-Za-z,-]+)\s+)?(\d\d):(\d\d)-(\d\d):(\d\d)\s*$/.exec(text) ?? [];
  const [fromHour, fromMinute, toHour, toMinute] = times.map(Number);
  const from = timeOf(fromHour, fromMinute);
  const to = timeOf(toHour, toMinute);
  const days = daysText === undefined ? DAYS.map((_name, day) => day) : daysOf(daysText);
  if (from === undefined || to === undefined || days === undefined || from === to || from === DAY) return undefined;
  return { days, from, to };
}

/** When the window opens next; now if it is open. */
export function opensAt({ days, from, to }: MaintenanceWindow, now: number): number {
  const today = Math.floor(now / DAY) * DAY;
  // From yesterday, whose window may still be open, to the same day next week.
  for (let offset = -1; offset <= 7; offset++) {
    const midnight = today + offset * DAY;
    if (!days.includes(new Date(midnight).getUTCDay())) continue;
    const closes = midnight + (to > from ? to : to + DAY);
    if (now < closes) return Math.max(now, midnight + from);
  }
  throw new Error('a window opens at least once a week');
}

function timeOf(hour: number | undefined, minute: number | undefined): number | undefined {
  if (hour === undefined || minute === undefined || minute > 59) return undefined;
  const time = (hour * 60 + minute) * MINUTE;
  return time <= DAY ? time : undefined;
}

/** `Sat-Mon,Wed` → 6, 0, 1, 3 */
function daysOf(text: string): readonly number[] | undefined {
  const days: number[] = [];
  for (const part of text.split(',')) {
    const ends = part.split('-').map((name) => DAYS.findIndex((day) => day.toLowerCase() === name.toLowerCase()));
    const [first, last = first] = ends;
    if (first === undefined || last === undefined || first < 0 || last < 0 || ends.length > 2) return undefined;
    for (let day = first; ; day = (day + 1) % 7) {
      days.push(day);
      if (day === last) break;
    }
  }
  return days;
}
