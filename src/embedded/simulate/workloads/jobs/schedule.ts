// Cron schedules: five fields, or a name such as `@daily`.

interface Field {
  readonly from: number;
  readonly to: number;
  readonly names?: readonly string[];
}

const fields: readonly Field[] = [
  { from: 0, to: 59 },
  { from: 0, to: 23 },
  { from: 1, to: 31 },
  { from: 1, to: 12, names: ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'] },
  { from: 0, to: 6, names: ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'] },
];
const shorthands: Readonly<Record<string, string>> = {
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
  '@monthly': '0 0 1 * *',
  '@weekly': '0 0 * * 0',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@hourly': '0 * * * *',
};

export interface Schedule {
  readonly sets: readonly ReadonlySet<number>[];
  /** True when both the day of the month and the day of the week are restricted: then either may match. */
  readonly eitherDay: boolean;
}

/** Parses a schedule; undefined when it is invalid. */
export function parseSchedule(text: string): Schedule | undefined {
  const parts = (shorthands[text.trim()] ?? text).trim().split(/\s+/);
  if (parts.length !== fields.length) return undefined;
  const sets: Set<number>[] = [];
  for (const [index, part] of parts.entries()) {
    const set = parseField(part, fields[index]!);
    if (set === undefined) return undefined;
    sets.push(set);
  }
  const restricted = (part: string): boolean => !part.startsWith('*') && !part.startsWith('?');
  return { sets, eitherDay: restricted(parts[2]!) && restricted(parts[4]!) };
}

function parseField(text: string, field: Field): Set<number> | undefined {
  const values = new Set<number>();
  const number = (word: string): number => {
    const named = field.names?.indexOf(word.toLowerCase()) ?? -1;
    const value = named >= 0 ? named + field.from : /^\d+$/.test(word) ? Number(word) : NaN;
    return value === 7 && field.to === 6 ? 0 : value;
  };
  for (const part of text.split(',')) {
    const match = /^(\*|\?|([a-z0-9]+)(?:-([a-z0-9]+))?)(?:\/(\d+))?$/i.exec(part);
    if (match === null) return undefined;
    const [, range, first, last, stepText] = match;
    const step = Number(stepText ?? 1);
    const from = range === '*' || range === '?' ? field.from : number(first!);
    const to =
      range === '*' || range === '?' || (last === undefined && stepText !== undefined)
        ? field.to
        : number(last ?? first!);
    if (!(from >= field.from && to <= field.to && from <= to && step > 0)) return undefined;
    for (let value = from; value <= to; value += step) values.add(value);
  }
  return values;
}

const minuteMs = 60_000;
/** Covers the next 29 February; a schedule without a time until then has none at all. */
const horizonDays = 5 * 366;

/** The next time of the schedule after `after` (in milliseconds), in a time zone. */
export function nextTime(schedule: Schedule, after: number, timeZone = 'UTC'): number | undefined {
  let time = Math.floor(after / minuteMs) * minuteMs + minuteMs;
  const end = time + horizonDays * 24 * 60 * minuteMs;
  const clock = new Intl.DateTimeFormat('en-US', {
    timeZone,
    hourCycle: 'h23',
    minute: 'numeric',
    hour: 'numeric',
    day: 'numeric',
    month: 'numeric',
    year: 'numeric',
  });
  while (time < end) {
    const { minute, hour, day, month, weekday } = wallTime(clock, time);
    const [minutes, hours, days, months, weekdays] = schedule.sets;
    const dayFits = schedule.eitherDay
      ? days!.has(day) || weekdays!.has(weekday)
      : days!.has(day) && weekdays!.has(weekday);
    if (!months!.has(month) || !dayFits) time += ((24 - hour) * 60 - minute) * minuteMs;
    else if (!hours!.has(hour)) time += (60 - minute) * minuteMs;
    else if (minutes!.has(minute)) return time;
    else time += minuteMs;
  }
  return undefined;
}

function wallTime(
  clock: Intl.DateTimeFormat,
  time: number,
): { minute: number; hour: number; day: number; month: number; weekday: number } {
  const parts = new Map(clock.formatToParts(time).map(({ type, value }) => [type, Number(value)]));
  const [year, month, day] = [parts.get('year')!, parts.get('month')!, parts.get('day')!];
  const weekday = new Date(Date.UTC(year, month - 1, day)).getUTCDay();
  return { minute: parts.get('minute')!, hour: parts.get('hour')!, day, month, weekday };
}
