// The example operator of the guide, in Go with controller-runtime, tested on the embedded cluster as the guide says.
import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { startEmbedded } from '../../src/embedded/index.ts';
import { describeRequiring } from '../support/requirements.ts';

const FOLDER = path.resolve(import.meta.dirname, '../../examples/go-operator');
const requirement = {
  what: 'the operator in Go',
  missing: spawnSync('go', ['version']).status === 0 ? undefined : 'Go is not installed',
  variable: 'OFFSHOOT_FOREIGN',
};

describeRequiring('the example operator in Go', [requirement], () => {
  // On a new machine, it is compiled first, with controller-runtime: that takes minutes.
  test('passes its tests twice on the same cluster', { timeout: 1_200_000 }, async () => {
    const dir = mkdtempSync(path.join(tmpdir(), 'offshoot-go-operator-'));
    const cluster = await startEmbedded();
    try {
      const KUBECONFIG = path.join(dir, 'kubeconfig');
      writeFileSync(KUBECONFIG, cluster.kubeconfig(), { mode: 0o600 });
      const options = { cwd: FOLDER, env: { ...process.env, KUBECONFIG } };
      for (const _time of ['first', 'second']) {
        const { stdout } = await promisify(execFile)('go', ['test', '-count=1', '-v', './...'], options);
        expect(stdout).toContain('--- PASS: TestCopies');
      }
    } finally {
      await cluster.stop();
      rmSync(dir, { recursive: true, force: true });
    }
  });
});
