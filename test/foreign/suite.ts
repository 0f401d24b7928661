// Runs one test suite of controller-runtime on a cluster and reads what became of its specs.
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
  /** Name of the spec → why. */
  readonly failed: ReadonlyMap<string, string>;
}

/** The longest takes a minute and a half on an idle machine. */
const patienceMs = 5 * 60_000;
/** How much longer than that it may take to report, for which it is told to stop by itself. */
const reportMs = 20_000;
/** A spec that passes at the second attempt was disturbed by others on this machine, not by the cluster. */
const attempts = 3;

interface SuiteOptions {
  /** Only the specs that this matches. */
  readonly focus?: string | undefined;
  /** When it is told to stop and to report, and when it is killed. */
  readonly endMs?: number;
  readonly killMs?: number;
}

/** Runs a suite. Rejects when it does not come so far that it can report, or does not end. */
export async function runSuite(
  programs: string,
  suite: string,
  kubeconfig: string,
  { focus, endMs = patienceMs, killMs = endMs + reportMs }: SuiteOptions = {},
): Promise<Outcome> {
  const dir = mkdtempSync(path.join(tmpdir(), 'offshoot-foreign-'));
  const report = path.join(dir, 'report.json');
  try {
    const flags = [
      `-ginkgo.json-report=${report}`,
      `-ginkgo.flake-attempts=${attempts}`,
      // The report names the spec that it was at.
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
    // What it has started may live on and hold the streams.
    child.once('exit', () => resolve());
  });
  clearTimeout(timer);
  return { output: Buffer.concat(chunks).toString(), isKilled };
}
