// Runs one test suite of controller-runtime on a cluster and reads the results of its specs.
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { suiteProgram } from '../programs/controller-runtime.ts';

interface SpecReport {
  readonly State: string;
  readonly LeafNodeType: string;
  readonly LeafNodeText: string;
  readonly ContainerHierarchyTexts: readonly string[] | null;
  readonly Failure?: { readonly Message: string };
}

export interface Outcome {
  readonly passed: readonly string[];
  /** Name of the spec → error. */
  readonly failed: ReadonlyMap<string, string>;
}

/** The longest suite takes a minute and a half on an idle machine. */
const timeoutMs = 5 * 60_000;
/** After that, Ginkgo stops the suite itself, and has this time left to write its report. */
const reportMs = 20_000;
/** A spec that passes at a later attempt failed because of the load on this machine, not because of the cluster. */
const attempts = 3;

interface SuiteOptions {
  /** Only the specs that this matches. */
  readonly focus?: string | undefined;
  /** When Ginkgo stops the suite and reports, and when the process is killed. */
  readonly endMs?: number;
  readonly killMs?: number;
}

/** Runs a suite. Rejects if it hangs or ends without a report. */
export async function runSuite(
  programs: string,
  suite: string,
  kubeconfig: string,
  { focus, endMs = timeoutMs, killMs = endMs + reportMs }: SuiteOptions = {},
): Promise<Outcome> {
  const dir = mkdtempSync(path.join(tmpdir(), 'offshoot-foreign-'));
  const report = path.join(dir, 'report.json');
  try {
    const flags = [
      `-ginkgo.json-report=${report}`,
      `-ginkgo.flake-attempts=${attempts}`,
      // Unlike `-test.timeout`, this writes a report, which names the spec that was running.
      `-ginkgo.timeout=${endMs}ms`,
      '-test.timeout=0',
      ...(focus === undefined ? [] : [`-ginkgo.focus=${focus}`]),
    ];
    const { output, isKilled } = await outputOf(path.join(programs, suiteProgram(suite)), flags, {
      cwd: path.join(programs, 'pkg', suite),
      env: { ...process.env, KUBECONFIG: kubeconfig, USE_EXISTING_CLUSTER: 'true', TMPDIR: dir },
      timeoutMs: killMs,
    });
    if (isKilled)
      throw new Error(`${suite} took longer than ${killMs / 1000} s and was stopped:\n${output.slice(-4000)}`);
    return outcomeOf(reportIn(report, suite, output));
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

function reportIn(file: string, suite: string, output: string): readonly SpecReport[] {
  try {
    const suites = JSON.parse(readFileSync(file, 'utf8')) as readonly { readonly SpecReports: readonly SpecReport[] }[];
    return suites.flatMap(({ SpecReports: specs }) => specs);
  } catch {
    throw new Error(`${suite} made no report:\n${output.slice(-4000)}`);
  }
}

function outcomeOf(specs: readonly SpecReport[]): Outcome {
  const named = specs.map((spec) => ({
    ...spec,
    name: [...(spec.ContainerHierarchyTexts ?? []), spec.LeafNodeText || spec.LeafNodeType].join(' '),
  }));
  const failures = named.filter(({ State: state }) => !['passed', 'pending', 'skipped'].includes(state));
  return {
    passed: named.filter((spec) => spec.State === 'passed' && spec.LeafNodeType === 'It').map(({ name }) => name),
    failed: new Map(failures.map((spec) => [spec.name, spec.Failure?.Message ?? spec.State])),
  };
}

async function outputOf(
  program: string,
  args: readonly string[],
  options: { readonly cwd: string; readonly env: NodeJS.ProcessEnv; readonly timeoutMs: number },
): Promise<{ readonly output: string; readonly isKilled: boolean }> {
  const { timeoutMs, ...rest } = options;
  const child = spawn(program, args, { ...rest, stdio: ['ignore', 'pipe', 'pipe'] });
  const chunks: Buffer[] = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => chunks.push(chunk));
  let isKilled = false;
  const timer = setTimeout(() => (isKilled = child.kill('SIGKILL')), timeoutMs);
  await new Promise<void>((resolve, reject) => {
    child.once('error', reject);
    // Not 'close': child processes of the suite may keep the streams open.
    child.once('exit', () => resolve());
  });
  clearTimeout(timer);
  return { output: Buffer.concat(chunks).toString(), isKilled };
}
