// Measures how long `offshoot --help` and `offshoot env list` take, run from the installed bundle, compared with
// kubectl on the same cluster.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { bundle } from '../scripts/bundle.ts';
import { connect, loadConfig } from '../src/kube/index.ts';
import { DynamicEnv } from '../src/api/dynamicenv.ts';
import { installedKubectls } from '../test/embedded/kubectl-session.ts';
import { interleave, note, ratio, table, target } from './support.ts';

const ROUNDS = 25;
const ENVIRONMENTS = 20;
const execute = promisify(execFile);

/** Returns true when all targets are met. */
export async function run(): Promise<boolean> {
  const kubectl = installedKubectls().at(-1);
  if (kubectl === undefined) throw new Error('there is no kubectl to compare with: "npm run real-cluster -- fetch"');
  const dir = mkdtempSync(path.join(tmpdir(), 'offshoot-cli-bench-'));
  const offshoot = await installIn(dir);
  const cluster = spawn(
    process.execPath,
    [offshoot, 'up', '--memory', '--port', '0', '--no-playground', '-o', 'json'],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  try {
    const [line] = (await once(createInterface({ input: cluster.stdout }), 'line')) as [string];
    const { kubeconfig } = JSON.parse(line) as { readonly kubeconfig: string };
    await createEnvironments(kubeconfig);
    const env = { ...process.env, KUBECONFIG: kubeconfig };
    const ours = async (...args: string[]): Promise<void> => {
      await execute(process.execPath, [offshoot, ...args], { env });
    };
    const theirs = async (...args: string[]): Promise<void> => {
      await execute(kubectl.path, args, { env });
    };
    const times = await interleave(ROUNDS, {
      help: () => ours('--help'),
      list: () => ours('env', 'list'),
      node: async () => void (await execute(process.execPath, ['-e', '0'])),
      kubectlHelp: () => theirs('--help'),
      kubectlGet: () => theirs('get', 'dynamicenvs'),
    });
    return table('command line, from the bundle', [
      note('node alone', fastest(times.node), ' ms'),
      note('kubectl --help', fastest(times.kubectlHelp), ' ms'),
      note(`kubectl get, of ${ENVIRONMENTS} environments`, fastest(times.kubectlGet), ' ms'),
      target('offshoot --help', fastest(times.help), 150, 'atMost', ' ms'),
      target(`offshoot env list, of ${ENVIRONMENTS} environments`, fastest(times.list), 200, 'atMost', ' ms'),
      note('offshoot env list / kubectl get', ratio(times.list, times.kubectlGet), 'x'),
    ]);
  } finally {
    cluster.kill();
    await once(cluster, 'exit');
    rmSync(dir, { recursive: true, force: true });
  }
}

/** The minimum, which other work on the machine affects least. */
function fastest(times: readonly number[]): number {
  return Math.min(...times);
}

/** Copies the files that the command line needs; returns the one to run. */
async function installIn(dir: string): Promise<string> {
  const root = path.resolve(import.meta.dirname, '..');
  mkdirSync(path.join(dir, 'bin'));
  for (const file of ['package.json', 'bin/offshoot.js']) copyFileSync(path.join(root, file), path.join(dir, file));
  // Generates data files that are copied into the bundle.
  await import('../scripts/openapi.ts');
  await bundle(path.join(dir, 'dist'));
  return path.join(dir, 'bin/offshoot.js');
}

async function createEnvironments(kubeconfig: string): Promise<void> {
  const client = connect(loadConfig({ path: kubeconfig }));
  for (let i = 0; i < ENVIRONMENTS; i++) {
    await client.create(DynamicEnv, {
      apiVersion: 'riskified.com/v1alpha1',
      kind: 'DynamicEnv',
      metadata: { name: `env-${i}`, namespace: 'default' },
      spec: {
        istioMatches: [{ headers: { a: { exact: String(i) } } }],
        subsets: [
          { name: 'cart', namespace: 'default', containers: [{ containerName: 'cart', image: 'cart:2', env: [] }] },
        ],
      },
    });
  }
  client.close();
}

if (import.meta.main) process.exit((await run()) ? 0 : 1);
