// A place at which the lines of pages and examples are run as a reader would: with a cluster of "offshoot up".
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { connect, loadConfig } from '../../src/kube/index.ts';
import type { Client } from '../../src/kube/index.ts';
import { installedKubectls } from '../embedded/kubectl-session.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');
export const kubectl = installedKubectls().at(-1);

/** A directory with what a reader has at hand: a checkout, the commands, and the kubeconfig of a running cluster. */
export interface Desk {
  readonly dir: string;
  readonly env: NodeJS.ProcessEnv;
  readonly client: Client;
  run(script: string): Promise<{ code: number; output: string }>;
  close(): Promise<void>;
}

/** Where pages say that the sample shop answers; those that do have one. */
export const GATEWAY = 'http://127.0.0.1:7480/';

export async function openDesk({ hasShop = false } = {}): Promise<Desk> {
  const dir = mkdtempSync(path.join(tmpdir(), 'offshoot-docs-'));
  for (const folder of ['examples', 'deploy']) symlinkSync(path.join(ROOT, folder), path.join(dir, folder));
  const bin = path.join(dir, 'bin');
  mkdirSync(bin);
  for (const name of ['offshoot', 'kubectl-offshoot']) {
    writeFileSync(path.join(bin, name), `#!/bin/sh\nexec "${process.execPath}" "${ROOT}/bin/offshoot.js" "$@"\n`);
    chmodSync(path.join(bin, name), 0o755);
  }
  if (kubectl) symlinkSync(kubectl.path, path.join(bin, 'kubectl'));
  const kubeconfig = path.join(dir, 'kubeconfig');
  const up = spawn(
    process.execPath,
    [
      path.join(ROOT, 'bin/offshoot.js'),
      'up',
      '--memory',
      ...(hasShop ? [] : ['--no-playground']),
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
  // The guides speak of a context "staging", and of a kubeconfig of another cluster.
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
        const options = { cwd: dir, env, timeout: 120_000 };
        execFile('bash', ['-c', script.replaceAll(GATEWAY, gateway)], options, (error, stdout, stderr) =>
          resolve({ code: error === null ? 0 : Number(error.code ?? 1), output: stdout + stderr }),
        );
      }),
    async close() {
      client.close();
      // It has nothing to put in order: what it kept is in this directory, or in memory.
      up.kill('SIGKILL');
      await once(up, 'exit');
      rmSync(dir, { recursive: true, force: true });
    },
  };
}
