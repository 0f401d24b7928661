// `offshoot errors`: explains error codes, including those of routing diagnostics.
import { CODES } from '../../routing/index.ts';
import { EXIT, failure } from '../exit.ts';
import { closestNames } from '../objects/closest-names.ts';
import { painter } from '../terminal/colour.ts';
import type { Paint } from '../terminal/colour.ts';
import { printResult } from '../terminal/output.ts';
import type { OutputFormat } from '../terminal/output.ts';
import { TablePrinter } from '../terminal/table.ts';
import { ERRORS } from './catalogue.ts';
import type { ErrorEntry } from './catalogue.ts';

export interface ErrorsOptions {
  readonly output: OutputFormat;
  readonly headers: boolean;
}

/** One code, as printed with -o json. */
interface Explained extends Required<ErrorEntry> {
  readonly code: string;
}

/** Every code, in the order of the catalogue. */
function explainedErrors(): readonly Explained[] {
  return [...Object.entries<ErrorEntry>(ERRORS), ...Object.entries<ErrorEntry>(CODES)].map(
    ([code, { meaning, advice, exit = EXIT.error }]) => ({
      code,
      meaning,
      advice,
      exit,
    }),
  );
}

/** Explains one code, or all of them. */
export function explainErrors(code: string | undefined, { output, headers }: ErrorsOptions): void {
  const all = explainedErrors();
  const paint = painter(process.stdout);
  if (code !== undefined) {
    const found = findCode(code, all);
    return printResult(output, {
      data: found,
      names: [found.code],
      lines: () => [`${paint('strong', found.code)}: ${found.meaning}`, '', found.advice, '', exitLine(found, paint)],
    });
  }
  printResult(output, {
    data: { errors: all },
    names: all.map((each) => each.code),
    lines: (isWide) =>
      new TablePrinter<Explained>(
        [
          { heading: 'CODE', cell: (each) => each.code },
          { heading: 'MEANING', cell: (each) => each.meaning },
          ...(isWide
            ? [
                { heading: 'EXIT', cell: (each: Explained) => String(each.exit) },
                { heading: 'WHAT TO DO', cell: (each: Explained) => each.advice },
              ]
            : []),
        ],
        { headings: headers },
      ).lines(all),
  });
}

function exitLine({ exit }: Explained, paint: Paint): string {
  return paint('quiet', `Exit code ${exit}.`);
}

/** Finds a code, ignoring case. */
function findCode(text: string, all: readonly Explained[]): Explained {
  const found = all.find(({ code }) => code.toLowerCase() === text.toLowerCase());
  if (found !== undefined) return found;
  const close = closestNames(
    text.toLowerCase(),
    all.map(({ code }) => code.toLowerCase()),
  ).map((name) => all.find(({ code }) => code.toLowerCase() === name)!.code);
  const hint = close.length > 0 ? `did you mean ${close.join(' or ')}?` : '"offshoot errors" lists all of them';
  throw failure('InvalidFlag', `CODE "${text}": there is no such code; ${hint}`);
}
