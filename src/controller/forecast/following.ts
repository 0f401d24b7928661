// The part of a forecast that answers a question: changes that concern some objects, and those that follow from the
// intents. Changes of other objects that would happen anyway are left out.
import { stringifyJson } from '../../kube/json.ts';
import type { Forecast, ForecastOptions } from './forecast.ts';
import { reportedChange, reportForecast, reportOf } from './report.ts';
import type { ForecastReport, ReportedChange } from './report.ts';

export interface Question<R> {
  /** The part of a forecast that concerns the objects in question. */
  readonly concerning: (made: Forecast) => Pick<Forecast, 'changes' | 'stalled'>;
  /** The whole answer. */
  readonly answer: (report: ForecastReport, made: Forecast) => R;
  /** The part of a forecast that may be seen; all of it by default. */
  readonly shown?: (made: Forecast) => Forecast;
}

/** Makes a forecast, and reports its answer to a question. */
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
