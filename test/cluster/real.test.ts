// A real cluster leaves nothing behind, neither when it is stopped nor when its owner is killed.
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { isAlive, pidsIn } from '../support/alive.ts';
import { startOwner } from '../support/owner.ts';
import { until } from '../support/until.ts';
import { describeReal } from './index.ts';
import { startRealCluster } from './real.ts';

describeReal('real cluster', () => {
  test('serves kubectl; `stop` ends all of its processes and removes all of its files', async () => {
    const cluster = await startRealCluster();
    const dir = path.resolve(path.dirname(cluster.kubeconfigPath), '..');
    const pids = pidsIn(dir);
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

  test('ends when its owner is killed, even while the API server is frozen', async () => {
    const source = `
      import { startRealCluster } from ${JSON.stringify(path.join(import.meta.dirname, 'real.ts'))};
      const cluster = await startRealCluster({ controllerManager: false, scheduler: false, kubelet: false });
      cluster.pauseApiServer();
      console.log(cluster.kubeconfigPath);`;
    const { line: kubeconfigPath, kill } = await startOwner(source);
    const dir = path.resolve(path.dirname(kubeconfigPath), '..');
    const pids = pidsIn(dir);
    expect(pids.filter(isAlive)).toHaveLength(2);
    kill();
    await until(() => !pids.some(isAlive) && !existsSync(dir));
    expect(pids.filter(isAlive)).toEqual([]);
  });

  test('reports why the API server does not start', async () => {
    const options = {
      controllerManager: false,
      scheduler: false,
      kubelet: false,
      extraApiServerArgs: ['--no-such-flag'],
    };
    await expect(startRealCluster(options)).rejects.toThrow(/kube-apiserver ended \(exit code 1\):[\s\S]*no-such-flag/);
  });
});
