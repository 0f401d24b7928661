// Offshoot as pods on the real node: non-root, read-only root, Pod Security `restricted`, only the roles of deploy/.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { DynamicEnv } from '../../src/api/dynamicenv.ts';
import type { Client } from '../../src/kube/client/client.ts';
import { connect } from '../../src/kube/client/connect.ts';
import { loadConfig } from '../../src/kube/client/config/kubeconfig.ts';
import { environmentOf } from '../mesh/workload.ts';
import { until } from '../support/until.ts';
import { describeNode } from './index.ts';
import { apply } from './kubectl.ts';
import type { Kubectl } from './kubectl.ts';
import { installOffshoot, leaderOf, offshootNamespace } from './offshoot.ts';
import { makeShop } from './shop.ts';

const namespace = 'team';
const name = 'orders';
const examples = path.resolve(import.meta.dirname, '../../examples');

describeNode('Offshoot in pods', (node) => {
  let kubectl: Kubectl;
  let client: Client;
  beforeAll(async () => {
    ({ kubectl } = node());
    client = connect(loadConfig({ path: node().kubeconfigPath }));
    await installOffshoot(kubectl);
    await makeShop(kubectl, namespace, name);
  }, 240_000);
  afterAll(() => client.close());

  const env = { namespace, name: 'try' };
  const example = environmentOf(namespace, env.name, name, `${name}:2`);

  test('makes an environment and a claim ready, with real pods', async () => {
    await apply(kubectl, example);
    for (const file of ['classes.yaml', 'claim.yaml'])
      await kubectl(['apply', '-f', '-'], readFileSync(path.join(examples, file), 'utf8'));
    await kubectl(['wait', '-n', namespace, 'dynamicenv/try', '--for=condition=Ready', '--timeout=60s']);
    await kubectl(['wait', '-n', namespace, 'deploymenttargetclaim/staging', '--for=condition=Ready', '--timeout=60s']);
    const images = await kubectl(['get', 'pods', '-n', namespace, '-l', `version=${namespace}-try`, '-o', 'name']);
    expect(images.trim().split('\n')).toHaveLength(1);
  });

  test('does not run as root, and its image has no shell', async () => {
    const exec = ['exec', '-n', offshootNamespace, 'deployment/offshoot', '--'];
    const ids = '`${process.getuid()}:${process.getgid()} ${os.userInfo().username}`';
    expect(await kubectl([...exec, '/usr/local/bin/node', '-p', ids])).toBe('65532:65532 offshoot\n');
    for (const shell of ['sh', 'bash', '/bin/sh', 'busybox'])
      await expect(kubectl([...exec, shell, '-c', 'true'])).rejects.toThrow(/not found|no such file/);
  });

  test('denies an invalid environment by its webhook', async () => {
    const refused = { ...example, metadata: { ...env, name: 'wrong' }, spec: { ...example.spec, istioMatches: [] } };
    await expect(apply(kubectl, refused)).rejects.toThrow(/denied the request: .*empty IstioMatch is invalid/);
  });

  test('loses no write during a rolling restart of both replicas', async () => {
    const end = new AbortController();
    let writes = 0;
    const failures: string[] = [];
    const write = async (): Promise<void> => {
      while (!end.signal.aborted) {
        const body = { metadata: { annotations: { 'example.com/writes': String(writes++) } } };
        await client
          .patch(DynamicEnv, env, { type: 'merge', body })
          .catch((error: Error) => failures.push(error.message));
      }
    };
    const writers = Promise.all(Array.from({ length: 8 }, write));
    await kubectl(['rollout', 'restart', '-n', offshootNamespace, 'deployment/offshoot']);
    await kubectl(['rollout', 'status', '-n', offshootNamespace, 'deployment/offshoot', '--timeout=90s']);
    // The last old replica ends some seconds after the new ones are ready.
    const replicas = async (): Promise<number> =>
      (await kubectl(['get', 'pods', '-n', offshootNamespace, '-o', 'name'])).trim().split('\n').length;
    await until(async () => (await replicas()) === 2, 60_000);
    end.abort();
    await writers;
    expect(failures).toEqual([]);
    expect(writes).toBeGreaterThan(100);
  });

  test('fails over within 20 s when the leader is deleted', async () => {
    const { pod, identity } = await leaderOf(client);
    await kubectl(['delete', '-n', offshootNamespace, '--wait=false', `pod/${pod}`]);
    await until(async () => ![identity, ''].includes((await leaderOf(client)).identity), 20_000);
    expect((await leaderOf(client)).pod).not.toBe(pod);
    // The new leader reconciles: the environment is deleted.
    await kubectl(['delete', '-n', namespace, 'dynamicenv/try', '--timeout=30s']);
  });
});
