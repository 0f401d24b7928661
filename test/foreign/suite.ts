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

const minutes = 5;
/** A spec that passes at the second attempt was disturbed by others on this machine, not by the cluster. */
const attempts = 3;

/** Runs a suite to its end, or those of its specs that `focus` matches. Rejects when it does not come so far that it can report. */
export async function runSuite(programs: string, suite: string, kubeconfig: string, focus?: string): Promise<Outcome> {
  const dir = mkdtempSync(path.join(tmpdir(), 'offshoot-foreign-'));
  const report = path.join(dir, 'report.json');
  try {
    const flags = [`-ginkgo.json-report=${report}`, `-ginkgo.flake-attempts=${attempts}`, `-test.timeout=${minutes}m`];
    if (focus !== undefined) flags.push(`-ginkgo.focus=${focus}`);
    const output = await outputOf(path.join(programs, suiteProgram(suite)), flags, {
      cwd: path.join(programs, 'pkg', suite),
      env: { ...process.env, KUBECONFIG: kubeconfig, USE_EXISTING_CLUSTER: 'true', TMPDIR: dir },
    });
    return outcomeOf(reportIn(report, output));
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

function reportIn(file: string, output: string): readonly SpecReport[] {
  try {
    const suites = JSON.parse(readFileSync(file, 'utf8')) as readonly { readonly SpecReports: readonly SpecReport[] }[];
    return suites.flatMap(({ SpecReports: specs }) => specs);
  } catch {
    throw new Error(`the suite made no report:\n${output.slice(-4000)}`);
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
  options: { readonly cwd: string; readonly env: NodeJS.ProcessEnv },
): Promise<string> {
  const child = spawn(program, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  const chunks: Buffer[] = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => chunks.push(chunk));
  await new Promise<void>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', () => resolve());
  });
  return Buffer.concat(chunks).toString();
}
