// Counts the failures of many test runs: which tests failed, how often, and whether only on a busy machine.

/** The result of one run. */
export interface Run {
  /** Whether busy processes ran in parallel. */
  readonly busy: boolean;
  /** The names of failed tests, without duplicates. */
  readonly failed: readonly string[];
}

/** The part of Vitest's JSON report that is read here. */
export interface Report {
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly assertionResults: readonly { readonly fullName: string; readonly status: string }[];
  }[];
}

/** The failures of a run. The report is missing if Vitest crashed; then the exit code or signal is reported. */
export function failuresOf(report: Report | undefined, exit: string, root: string): readonly string[] {
  const failed = (report?.testResults ?? []).flatMap(({ name, status, assertionResults }) => {
    const file = name.startsWith(`${root}/`) ? name.slice(root.length + 1) : name;
    const tests = assertionResults.filter((test) => test.status === 'failed');
    // A file that can't be loaded, or a hook that fails, has no failed test.
    if (tests.length === 0) return status === 'failed' ? [file] : [];
    return tests.map(({ fullName }) => `${file}: ${fullName}`);
  });
  if (failed.length === 0 && exit !== '0') return [`(no test failed, but the run ended with ${exit})`];
  return [...new Set(failed)];
}

/** A table of failures, the most frequent first; one line when nothing failed. */
export function tableOf(runs: readonly Run[]): string {
  const quiet = runs.filter((run) => !run.busy);
  const busy = runs.filter((run) => run.busy);
  const names = [...new Set(runs.flatMap(({ failed }) => failed))];
  if (names.length === 0) return `nothing failed in ${runs.length} run${runs.length === 1 ? '' : 's'}`;
  const count = (name: string, among: readonly Run[]): number =>
    among.filter((run) => run.failed.includes(name)).length;
  const share = (name: string, among: readonly Run[]): string => `${count(name, among)}/${among.length}`;
  const rows = names
    .toSorted((a, b) => count(b, runs) - count(a, runs) || (a < b ? -1 : 1))
    .map((name) => [share(name, runs), share(name, quiet), share(name, busy), name]);
  return [['FAILED', 'QUIET', 'BUSY', 'TEST'], ...rows]
    .map(([all, ofQuiet, ofBusy, name]) => `${all!.padEnd(8)}${ofQuiet!.padEnd(8)}${ofBusy!.padEnd(8)}${name}`)
    .join('\n');
}
