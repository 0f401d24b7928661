// The part of a forecast that answers a question: what concerns some objects, and what follows from what is intended. What
// is due anyway and concerns others is left out.
import { stringifyJson } from '../../kube/json.ts';
import type { Forecast, ForecastOptions } from './forecast.ts';
import { reportedChange, reportForecast, reportOf } from './report.ts';
import type { ForecastReport, ReportedChange } from './report.ts';

export interface Question<R> {
  /** The part of a forecast that concerns the objects in question. */
  readonly concerning: (made: Forecast) => Pick<Forecast, 'changes' | 'stalled'>;
  /** The whole answer. */
  readonly answer: (report: ForecastReport, made: Forecast) => R;
  /** What of a forecast is to be seen; all of it unless given. */
  readonly shown?: (made: Forecast) => Forecast;
}

/** Makes a forecast, and reports what it says to a question. */
export function reportFollowing<R>(options: Omit<ForecastOptions, 'seed'>, question: Question<R>): R {
  const { intents = [] } = options;
  const shown = question.shown ?? ((made) => made);
  const due =
    intents.length === 0 ? undefined : reportForecast({ ...options, intents: [] }, (made) => reportOf(shown(made)));
  const isDue = new Set(due?.changes.map(lineOf));
  return reportForecast(options, (all) => {
    const made = shown(all);
    const { changes, stalled } = question.concerning(made);
    const isConcerning = new Set(changes);
    const following = made.changes.filter(
      (change) => isConcerning.has(change) || !isDue.has(lineOf(reportedChange(change))),
    );
    return question.answer(reportOf({ ...made, stalled }, due === undefined ? changes : following), made);
  });
}

function lineOf(change: ReportedChange): string {
  return stringifyJson(change);
}
