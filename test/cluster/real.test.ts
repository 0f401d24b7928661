// That a real cluster leaves nothing behind: neither when it is stopped nor when its owner is killed.
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { expect, test } from 'vitest';
import { until } from '../support/until.ts';
import { describeReal } from './index.ts';
import { startRealCluster } from './real.ts';

/** The process ids of a cluster's programs. */
function programsOf(dir: string): number[] {
  const files = readdirSync(dir).filter((name) => name.endsWith('.pid'));
  return files.map((name) => Number(readFileSync(path.join(dir, name), 'utf8')));
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

describeReal('real cluster', () => {
  test('serves kubectl, and ends with all of its programs and files', async () => {
    const cluster = await startRealCluster();
    const dir = path.resolve(path.dirname(cluster.kubeconfigPath), '..');
    const pids = programsOf(dir);
    try {
      const args = [
        '--kubeconfig',
        cluster.kubeconfigPath,
        `--cache-dir=${path.join(dir, 'cache')}`,
        'get',
        'nodes',
        '-o',
        'name',
      ];
      expect(execFileSync(cluster.kubectl, args, { encoding: 'utf8' })).toBe('node/node-1\n');
      expect(pids).toHaveLength(5);
      expect(cluster.logs('kube-apiserver')).toContain('Serving securely');
    } finally {
      await cluster.stop();
    }
    expect(pids.filter(isAlive)).toEqual([]);
    expect(existsSync(dir)).toBe(false);
  });

  test('goes when its owner is killed, also while the API server is frozen', async () => {
    const source = `
      import { startRealCluster } from ${JSON.stringify(path.join(import.meta.dirname, 'real.ts'))};
      const cluster = await startRealCluster({ controllerManager: false, scheduler: false, kubelet: false });
      cluster.pauseApiServer();
      console.log(cluster.kubeconfigPath);
      setInterval(() => undefined, 1000);`;
    const owner = spawn(process.execPath, ['--input-type=module-typescript', '-e', source], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [kubeconfigPath] = (await once(createInterface({ input: owner.stdout }), 'line')) as [string];
    const dir = path.resolve(path.dirname(kubeconfigPath), '..');
    const pids = programsOf(dir);
    expect(pids.filter(isAlive)).toHaveLength(2);
    owner.kill('SIGKILL');
    await until(() => !pids.some(isAlive) && !existsSync(dir));
    expect(pids.filter(isAlive)).toEqual([]);
  });

  test('says why an API server does not start', async () => {
    const options = {
      controllerManager: false,
      scheduler: false,
      kubelet: false,
      extraApiServerArgs: ['--no-such-flag'],
    };
    await expect(startRealCluster(options)).rejects.toThrow(/kube-apiserver ended \(exit code 1\):[\s\S]*no-such-flag/);
  });
});
