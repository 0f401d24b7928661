// Runs the commands of pages and examples as a reader would: on a cluster of "offshoot up".
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { connect, loadConfig } from '../../src/kube/index.ts';
import type { Client } from '../../src/kube/index.ts';
import { helms } from '../chart/helm.ts';
import { installedKubectls } from '../embedded/kubectl-session.ts';
import { writeProgram } from './write-program.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');
export const kubectl = installedKubectls().at(-1);
const helm = helms.at(-1)!;

/** A directory with the files of a checkout, the commands in the PATH, and the kubeconfig of a running cluster. */
export interface DocsSession {
  readonly dir: string;
  readonly env: NodeJS.ProcessEnv;
  readonly client: Client;
  run(script: string): Promise<{ code: number; output: string }>;
  close(): Promise<void>;
}

/** The URL of the sample shop in pages; replaced by the real one. */
export const GATEWAY = 'http://127.0.0.1:7480/';

export async function openDocsSession({ hasShop = false, hasControllers = true } = {}): Promise<DocsSession> {
  const dir = mkdtempSync(path.join(tmpdir(), 'offshoot-docs-'));
  for (const folder of ['examples', 'deploy']) symlinkSync(path.join(ROOT, folder), path.join(dir, folder));
  const bin = path.join(dir, 'bin');
  mkdirSync(bin);
  for (const name of ['offshoot', 'kubectl-offshoot']) {
    writeProgram(path.join(bin, name), `#!/bin/sh\nexec "${process.execPath}" "${ROOT}/bin/offshoot.js" "$@"\n`);
  }
  // Programs of the pages use the libraries of this tree.
  const libraries = new URL('libraries-from-source.ts', import.meta.url).href;
  const node = `#!/bin/sh\nexec "${process.execPath}" --import '${libraries}' "$@"\n`;
  writeProgram(path.join(bin, 'node'), node);
  mkdirSync(path.join(dir, 'node_modules/offshoot'), { recursive: true });
  symlinkSync(path.join(ROOT, 'examples'), path.join(dir, 'node_modules/offshoot/examples'));
  if (kubectl) symlinkSync(kubectl.path, path.join(bin, 'kubectl'));
  if (helm.requirement.missing === undefined) symlinkSync(helm.program, path.join(bin, 'helm'));
  // The pages write to ./kubeconfig themselves.
  const kubeconfig = path.join(dir, 'session.kubeconfig');
  const up = spawn(
    process.execPath,
    [
      path.join(ROOT, 'bin/offshoot.js'),
      'up',
      '--memory',
      ...(hasShop ? [] : ['--no-playground']),
      ...(hasControllers ? [] : ['--no-controllers']),
      '--port',
      '0',
      '-o',
      'json',
      '--kubeconfig',
      kubeconfig,
    ],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const [line] = (await once(createInterface({ input: up.stdout }), 'line')) as [string];
  const { gateway = '' } = JSON.parse(line) as { gateway?: string };
  // The guides use a context "staging", and the kubeconfig of another cluster.
  const text = readFileSync(kubeconfig, 'utf8');
  writeFileSync(
    kubeconfig,
    text.replace(/contexts:\n/, '$&- {name: staging, context: {cluster: offshoot, user: admin}}\n'),
  );
  writeFileSync(path.join(dir, 'prod.kubeconfig'), text);
  const env = {
    ...process.env,
    HOME: dir,
    KUBECONFIG: kubeconfig,
    PATH: `${bin}:${process.env['PATH']}`,
    NODE_OPTIONS: '',
  };
  const client = connect(loadConfig({ path: kubeconfig }));
  return {
    dir,
    env,
    client,
    run: (script) =>
      new Promise((resolve) => {
        const options = { cwd: dir, env, timeout: 240_000 };
        execFile('bash', ['-c', script.replaceAll(GATEWAY, gateway)], options, (error, stdout, stderr) =>
          resolve({ code: error === null ? 0 : Number(error.code ?? 1), output: stdout + stderr }),
        );
      }),
    async close() {
      client.close();
      // It needs no graceful shutdown: its data is in this directory, or in memory.
      up.kill('SIGKILL');
      await once(up, 'exit');
      rmSync(dir, { recursive: true, force: true });
    },
  };
}
