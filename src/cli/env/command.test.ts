// Runs the commands as processes with piped output, against a cluster with the controller.
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { until } from '../../../test/support/until.ts';
import { DynamicEnv } from '../../api/dynamicenv.ts';
import { Deployment } from '../../environments/objects.ts';
import { DestinationRule, VirtualService } from '../../traffic/istio/objects.ts';
import { defineKind } from '../../kube/objects.ts';
import { openShop } from '../testing/shop.ts';
import type { Shop } from '../testing/shop.ts';

const ResourceQuota = defineKind('v1', 'ResourceQuota', 'resourcequotas');

type Output = () => string;

let shop: Shop;
beforeAll(async () => {
  shop = await openShop();
  await Promise.all([
    shop.deploy('cart'),
    shop.deploy('bad', { simulate: 'crash' }),
    shop.deploy('lonely', { mesh: false }),
    shop.deploy('two', { containers: ['app', 'helper'] }),
  ]);
});
afterAll(() => shop.stop());

async function names(): Promise<string[]> {
  return (await shop.client.list(DynamicEnv)).items.map(({ metadata }) => metadata.name);
}

/** Replaces what differs from run to run. */
function normalized(text: string): string {
  return text.replaceAll(/[0-9a-f]{10}(?=  )/g, 'DIGEST').replaceAll(/\b\d+s$/gm, 'Ns');
}

test('one environment can be created, listed, described, planned and deleted', { timeout: 120_000 }, async () => {
  const create = ['env', 'create', 'feature', '--subset', 'cart=cart:2', '--header', 'end-user=alice'];
  const service = await shop.client.get(VirtualService, { name: 'cart', namespace: 'shop' });

  const created = await shop.run(...create, '--wait');
  expect(created).toMatchObject({ code: 0, stdout: 'dynamicenv.riskified.com/feature created\n' });
  const progress = created.stderr.trimEnd().split('\n');
  // The number of progress lines depends on the speed of the controller; the last line of each part does not.
  expect(new Map(progress.map((line) => line.split(': ') as [string, string]))).toEqual(
    new Map([
      ['shop/cart clone', 'running (Deployment shop/cart-shop-feature)'],
      ['shop/cart rule', 'running (DestinationRule shop/cart-shop-feature-cart)'],
      ['shop/cart routes', 'running (VirtualService shop/cart)'],
    ]),
  );

  const ofClone = await shop.run('env', 'create', 'other', '--subset', 'cart-shop-feature=c', '--header', 'a=b');
  expect(ofClone).toMatchObject({
    code: 1,
    stderr: expect.stringContaining(
      'Deployment shop/cart-shop-feature is the clone that environment shop/feature made',
    ),
  });
  const missing = await shop.run('env', 'create', 'other', '--subset', 'nothing=c', '--header', 'a=b');
  expect(missing.stderr).toContain('there are bad, cart, lonely, two');

  const listed = await shop.run('env', 'list', '-o', 'wide', '-A');
  expect(listed.code).toBe(0);
  expect(normalized(listed.stdout.replaceAll(/\d+s {3}/g, 'Ns   '))).toBe(
    'NAMESPACE   NAME      STATUS   READY   ISOLATED   MATCH            EXPIRES   AGE   SUBSETS     CONSUMERS\n' +
      'shop        feature   ready    1/1     True       end-user=alice   <none>    Ns    shop/cart   <none>\n',
  );

  const described = await shop.run('env', 'describe', 'feature');
  expect(described).toMatchObject({ code: 0, stderr: '' });
  expect(normalized(described.stdout.split('\nEvents')[0]!)).toBe(
    `
Environment shop/feature  ready
└─ Subset shop/cart  running
   ├─ Deployment shop/cart-shop-feature  running  1/1 pods ready, cart=cart:2
   ├─ DestinationRule shop/cart-shop-feature-cart  running
   └─ VirtualService shop/cart  running
      └─ Route dynamic-environment-shop-feature-cart-DIGEST  running  end-user=alice → cart/shop-feature

Requests  end-user=alice
Try       curl -H 'end-user: alice' http://cart.shop:9080/
`.trimStart(),
  );

  expect(await shop.run('env', 'plan', 'feature')).toEqual({
    code: 0,
    stdout: 'Nothing to do.\nEnvironment shop/feature would be ready.\n',
    stderr: '',
  });
  // With another default version in the settings, its routes would be removed.
  expect(await shop.run('env', 'plan', 'feature', '--default-version', 'stable')).toMatchObject({
    code: 1,
    stdout: expect.stringMatching(
      /\.http\[dynamic-environment-\S+\]: end-user=alice → cart\/shop-feature → \(removed\)\n/,
    ),
  });
  expect(await shop.run(...create)).toMatchObject({ code: 0, stdout: 'dynamicenv.riskified.com/feature unchanged\n' });
  const other = await shop.run('env', 'create', 'feature', '--subset', 'cart=cart:3', '--header', 'end-user=bob');
  expect(other).toMatchObject({ code: 1, stdout: '' });
  expect(other.stderr).toContain('error: environment shop/feature already exists and is different');

  const deleted = await shop.run('env', 'delete', 'feature');
  expect(deleted).toMatchObject({ code: 0, stdout: 'dynamicenv.riskified.com/feature deleted\n' });
  const parts = [
    'Routes in VirtualService shop/cart',
    'DestinationRule shop/cart-shop-feature-cart',
    'Deployment shop/cart-shop-feature',
    'Environment shop/feature',
  ];
  const deletionProgress = deleted.stderr.trimEnd().split('\n');
  expect(deletionProgress.slice(0, 4)).toEqual(parts.map((part) => `${part}: deleting`));
  expect(deletionProgress.slice(4).sort()).toEqual(parts.map((part) => `${part}: deleted`).sort());
  expect(await shop.run('env', 'delete', 'feature')).toMatchObject({ code: 1, stdout: '' });
  const again = await shop.run('env', 'delete', 'feature', '--ignore-not-found');
  expect(again).toEqual({ code: 0, stdout: '', stderr: '' });
  expect(await names()).not.toContain('feature');
  const after = await shop.client.get(VirtualService, { name: 'cart', namespace: 'shop' });
  expect(after.spec).toEqual(service.spec);
});

test('--dry-run=client prints a manifest that plan -f and create -f accept', async () => {
  const flags = ['--subset', 'two:helper=helper:2', '--header', 'end-user^=test-', '--env', 'ON=yes'];
  const printed = await shop.run('env', 'create', 'fromfile', ...flags, '--dry-run=client', '-o', 'yaml');
  expect(printed).toEqual({
    code: 0,
    stderr: '',
    stdout: `
apiVersion: riskified.com/v1alpha1
kind: DynamicEnv
metadata:
  name: fromfile
  namespace: shop
spec:
  istioMatches:
    - headers:
        end-user:
          prefix: test-
  subsets:
    - name: two
      namespace: shop
      containers:
        - containerName: helper
          image: helper:2
          env:
            - name: "ON"
              value: "yes"
`.trimStart(),
  });
  const file = path.join(shop.dir, 'fromfile.yaml');
  writeFileSync(file, printed.stdout);

  const planned = await shop.run('env', 'plan', '-f', file);
  expect({ ...planned, stdout: planned.stdout.replaceAll(/[0-9a-f]{10}(?=])/g, 'DIGEST') }).toEqual({
    code: 2,
    stderr: '',
    stdout: `
+ DynamicEnv shop/fromfile
+ Deployment shop/two-shop-fromfile
+ DestinationRule shop/two-shop-fromfile-two
~ VirtualService shop/two
    metadata.annotations[riskified.com/dynamic-environment]: shop/fromfile
    spec.http[dynamic-environment-shop-fromfile-two-DIGEST]: end-user^=test- → two/shop-fromfile

3 to create, 1 to change, 0 to remove.

Requests to two.shop:9080 with end-user that starts with test- go to two version shop-fromfile instead of version shared.

Routes come once the pods of their clones are ready.
Environment shop/fromfile would be ready.
  ✓ isolated: every request in the mesh without its key is routed as if it did not exist
    note: Service two.shop.svc.cluster.local selects shop/Deployment/two-shop-fromfile: callers without a sidecar, and those on ports that are not HTTP, reach it by load balancing
    note: answers to requests with the key carry x-dynamic-env: two-shop-fromfile
`.trimStart(),
  });
  expect(await names()).not.toContain('fromfile');

  const quota = { name: 'none', namespace: 'shop' };
  await shop.client.create(ResourceQuota, {
    apiVersion: 'v1',
    kind: 'ResourceQuota',
    metadata: quota,
    spec: { hard: { 'count/deployments.apps': '0' } },
  });
  await until(async () => (await shop.client.get(ResourceQuota, quota))['status'] !== undefined);
  const refused = await shop.run('env', 'plan', '-f', file);
  expect(refused).toMatchObject({
    code: 1,
    stdout: expect.stringMatching(
      /\n! Environment shop\/fromfile would be degraded and make no progress: .*exceeded quota: none,.*\n  - isolated: .*\n$/,
    ),
  });
  await shop.client.delete(ResourceQuota, quota);

  const created = await shop.run('env', 'create', '-f', file, '--wait', '-o', 'name');
  expect(created).toMatchObject({ code: 0, stdout: 'dynamicenv.riskified.com/fromfile\n' });
  expect(await shop.run('env', 'delete', '-f', file)).toMatchObject({ code: 0 });
  expect(await names()).not.toContain('fromfile');
});

describe('create --wait ends', () => {
  test('with exit code 3 and the reasons after the timeout', async () => {
    const create = ['env', 'create', 'crashing', '--subset', 'bad=bad:2', '--header', 'a=b', '--wait'];
    const { code, stderr } = await shop.run(...create, '--timeout', '1s');
    expect(code).toBe(3);
    const why = 'CrashLoopBackOff: container bad: ended with exit code 1 (Error)';
    const progress = `shop/bad clone: initializing (Deployment shop/bad-shop-crashing): ${why}\n`;
    const end = 'error: environment shop/crashing is not ready after 1s\n';
    expect(stderr).toContain(end);
    expect(stderr.slice(0, stderr.indexOf(end))).toContain(progress);
    expect(stderr).toMatch(/Deployment shop\/bad-shop-crashing: pod \S+, container bad: CrashLoopBackOff/);
    expect(await shop.run('env', 'delete', 'crashing')).toMatchObject({ code: 0 });
  });

  test('with exit code 1 and the reason when the environment is stalled', async () => {
    const create = ['env', 'create', 'stalled', '--subset', 'lonely=lonely:2', '--header', 'a=b', '--wait'];
    const { code, stderr } = await shop.run(...create);
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /error: environment shop\/stalled is degraded: no base destination rules were found for subset: lonely-shop-stalled/,
    );
    expect(await shop.run('env', 'delete', 'stalled')).toMatchObject({ code: 0 });
  });

  test('with exit code 1 when earlier routes take every request', { timeout: 60_000 }, async () => {
    const create = (name: string, header: string) =>
      shop.run('env', 'create', name, '--subset', 'cart=cart:2', '--header', header, '--wait');
    // If both have the same creation second, the one whose name sorts first counts as earlier.
    expect(await create('greedy', 'end-user~=.*')).toMatchObject({ code: 0 });
    const { code, stderr } = await create('hidden', 'end-user=alice');
    const reason = 'all of its requests are taken by environment shop/greedy in VirtualService shop/cart';
    expect(stderr).toContain(`shop/cart routes: ${reason}\n`);
    expect(stderr).toContain(
      `error: environment shop/hidden is degraded: shop/cart: ${reason}\n  create this environment again with another key, or delete the other one\n`,
    );
    expect(code).toBe(1);
    const listed = await shop.run('env', 'list');
    expect(listed.stdout).toMatch(/^hidden +degraded +0\/1 /m);
    expect(listed.stdout).toMatch(/^greedy +ready +1\/1 /m);
    const { stdout: described } = await shop.run('env', 'describe', 'hidden');
    expect(described.split('Events')[0]!.split(reason)).toHaveLength(2);
    expect(described).toContain('create this environment again with another key, or delete the other one');
    // status.totalReady still counts the clone, as the tests of the original expect: it runs.
    expect((await shop.client.get(DynamicEnv, { name: 'hidden', namespace: 'shop' })).status?.totalReady).toBe(1);
    // It gets its requests once the other one is deleted.
    await shop.run('env', 'delete', 'greedy');
    await until(async () => /^hidden +ready +1\/1 /m.test((await shop.run('env', 'list')).stdout), 20_000);
    await shop.run('env', 'delete', 'hidden');
  });

  test('with exit code 130 when it is interrupted', async () => {
    const create = ['env', 'create', 'interrupted', '--subset', 'bad=bad:2', '--header', 'a=b', '--wait'];
    const { child, ended, output } = shop.start(...create);
    await until(() => output().includes('initializing'), 20_000);
    child.kill('SIGINT');
    const { code, stdout, stderr } = await ended;
    expect([code, stdout]).toEqual([130, 'dynamicenv.riskified.com/interrupted created\n']);
    expect(stderr.split('\n').at(-2)).toBe(
      'Interrupted: environment shop/interrupted is left as it is, and the controller continues; see "offshoot env describe interrupted -n shop"',
    );
    expect(await shop.run('env', 'delete', 'interrupted')).toMatchObject({ code: 0 });
  });
});

describe('list -w', () => {
  const create = (name: string, ...flags: readonly string[]) =>
    shop.run('env', 'create', name, '--subset', 'cart=cart:2', '--header', `a=${name}`, ...flags);

  test('shows every object once, then every change, and marks deleted objects', { timeout: 60_000 }, async () => {
    await create('there', '--wait');
    const formats = [[], ['-o', 'name'], ['-o', 'json', '--output-watch-events'], ['--output-watch-events']];
    const watches = formats.map((format) => shop.start('env', 'list', '-w', ...format));
    const [table, names, events, marked] = watches.map(({ output }) => output) as [Output, Output, Output, Output];
    await until(() => watches.every(({ output }) => output().includes('there')), 20_000);
    expect(table().match(/^there /gm)).toHaveLength(1);
    await until(() => names() === 'dynamicenv.riskified.com/there\n', 20_000);
    await create('seen');
    await until(() => /^seen +ready +1\/1 +\S+ +a=seen/m.test(table()), 20_000);
    await shop.run('env', 'delete', 'seen');
    await until(() => /^seen +deleting/m.test(table()), 20_000);
    await until(() => /^seen +deleted +/m.test(table()), 20_000);
    await until(() => names().endsWith('dynamicenv.riskified.com/seen deleted\n'), 20_000);
    await until(() => events().includes('"type": "DELETED"'), 20_000);
    await until(() => /^DELETED +seen +deleted/m.test(marked()), 20_000);
    for (const { child } of watches) child.kill('SIGINT');
    for (const { ended } of watches) expect((await ended).code).toBe(130);
    await shop.run('env', 'delete', 'there');
  });

  // A reader that has already left is noticed at once: see terminal/lines.test.ts. Here it may leave later.
  test(
    'ends quietly when the reader has closed the pipe, with the next change at the latest',
    { timeout: 60_000 },
    async () => {
      await create('first');
      const { child, ended } = shop.start('env', 'list', '-w');
      await once(child.stdout!, 'data');
      child.stdout!.destroy();
      await create('second');
      expect(await ended).toMatchObject({ code: 141, stderr: '' });
      await shop.run('env', 'delete', 'first', 'second');
    },
  );
});

test('completion suggests commands, values, and names from the cluster', { timeout: 60_000 }, async () => {
  await shop.run('env', 'create', 'offered', '--subset', 'cart=cart:2', '--header', 'a=b');
  const offers = async (...words: string[]): Promise<string[]> => {
    const { stdout } = await shop.run('complete', '--', ...words);
    return stdout
      .trimEnd()
      .split('\n')
      .map((line) => line.split('\t')[0]!)
      .slice(0, -1);
  };
  expect(await offers('env', 'd')).toEqual(['describe', 'delete']);
  expect(await offers('env', 'list', '-o', '')).toEqual(['table', 'wide', 'json', 'yaml', 'name', 'jsonpath=']);
  // Completion gives up quickly on a slow cluster, so a busy machine may need another try.
  const live = async (...words: string[]): Promise<string> => (await offers('env', ...words)).join(' ');
  await until(async () => (await live('describe', '')) === 'offered', 25_000);
  await until(async () => (await live('list', '-n', 's')) === 'shop', 25_000);
  expect(await live('describe', '-n', 'default', '')).toBe('');
  const script = await shop.run('completion', 'bash');
  expect(script).toMatchObject({ code: 0, stdout: expect.stringContaining('bash completion for offshoot') });
  await shop.run('env', 'delete', 'offered');
});

test(
  'an environment applied by kubectl can be planned, and is taken over only with --force-conflicts',
  { timeout: 60_000 },
  async () => {
    const manifest = (image: string): DynamicEnv => ({
      apiVersion: 'riskified.com/v1alpha1',
      kind: 'DynamicEnv',
      metadata: { name: 'theirs', namespace: 'shop' },
      spec: {
        istioMatches: [{ headers: { a: { exact: 'theirs' } } }],
        subsets: [{ name: 'cart', namespace: 'shop', containers: [{ containerName: 'cart', image, env: [] }] }],
      },
    });
    const patch = { type: 'apply', body: manifest('cart:2'), force: true } as const;
    const { metadata } = await shop.client.patch(DynamicEnv, patch.body.metadata, patch, { fieldManager: 'kubectl' });
    const file = path.join(shop.dir, 'theirs.yaml');
    writeFileSync(file, JSON.stringify(manifest('cart:3')));
    const imageOf = async (): Promise<unknown> =>
      (await shop.client.get(DynamicEnv, metadata)).spec?.subsets?.[0]?.containers?.[0]?.image;

    const planned = await shop.run('env', 'plan', '-f', file);
    expect(planned).toMatchObject({
      code: 2,
      stdout: expect.stringContaining('    spec.template.spec.containers[cart].image: cart:2 → cart:3\n'),
      stderr: '',
    });
    expect(planned.stdout).toMatch(
      /\n! offshoot env create -f and apply -f would refuse shop\/theirs without --force-conflicts: .*conflict with "kubectl": \.spec\.subsets\n/,
    );
    const refused = await shop.run('env', 'create', '-f', file);
    expect(refused).toMatchObject({ code: 1, stdout: '' });
    expect(refused.stderr).toMatch(
      /conflict with "kubectl"[^]*\n--force-conflicts takes over these fields\ncode: Conflict/,
    );
    expect(await imageOf()).toBe('cart:2');
    expect(await shop.run('env', 'create', '-f', file, '--force-conflicts')).toMatchObject({
      code: 0,
      stdout: 'dynamicenv.riskified.com/theirs configured\n',
    });
    expect(await imageOf()).toBe('cart:3');
    await shop.run('env', 'delete', 'theirs');
  },
);

test('an invalid command fails with the reason and changes nothing', { timeout: 60_000 }, async () => {
  const good = ['--subset', 'cart=cart:2', '--header', 'a=b'];
  const file = path.join(shop.dir, 'refused.yaml');
  const manifest = (name: string, namespace: string): string =>
    `apiVersion: riskified.com/v1alpha1\nkind: DynamicEnv\nmetadata: {name: ${name}, namespace: ${namespace}}\n` +
    'spec: {istioMatches: [{headers: {a: {exact: b}}}], subsets: []}\n';
  // Only the server knows that the second can't be created, and then the first must not be created either.
  writeFileSync(file, `${manifest('fine', 'shop')}---\n${manifest('refused', 'nowhere')}`);
  const failures: [args: string[], message: string][] = [
    [['create', 'x', '--subset', 'crt=c', '--header', 'a=b'], 'did you mean cart?'],
    [['create', 'x', '--subset', 'two=c', '--header', 'a=b'], 'has the containers app, helper'],
    [['create', 'x', ...good, '--replicas', '0'], "option '--replicas <number>' argument '0' is invalid"],
    [['create', 'x', ...good, '--hedder', 'a=b'], '(Did you mean --header?)'],
    [['creat', 'x', ...good], '(Did you mean create?)'],
    [['create', '-f', file], 'namespaces "nowhere" not found'],
    [['describe', 'x'], 'there is no environment x in namespace shop'],
    [['describe', 'x', '-n', 'shp'], 'there is no namespace shp; did you mean shop?'],
    [['create', 'x', ...good, '-n', 'nonsuch'], 'there is no namespace nonsuch; there are default, '],
    [
      ['delete'],
      'NAME is missing: name the environments to delete, or give -f FILE or -l LABELS\ncode: MissingArgument,',
    ],
    [['sleep'], 'NAME is missing: name the environments to put to sleep, or give -f FILE or -l LABELS'],
    [['delete', 'x', '-l', 'a=b'], 'say what to delete in one way'],
  ];
  const answers = await Promise.all(
    failures.map(async ([args, message]) => ({ args, message, ran: await shop.run('env', ...args) })),
  );
  for (const { args, message, ran } of answers) {
    expect([args, ran.code, ran.stdout]).toEqual([args, 1, '']);
    expect(ran.stderr).toContain(message);
  }
  expect(await names()).toEqual([]);
});

test('without a controller, create --wait says so, and delete still works', { timeout: 60_000 }, async () => {
  const unattended = await openShop({ controller: false });
  try {
    await unattended.deploy('cart');
    const create = ['env', 'create', 'alone', '--subset', 'cart=cart:2', '--header', 'a=b', '--wait'];
    const created = await unattended.run(...create, '--timeout', '500ms');
    expect(created.code).toBe(3);
    expect(created.stderr).toContain(
      'error: environment shop/alone is not ready after 0.5s\n' +
        '  Environment shop/alone: no controller has looked at it yet: check that "offshoot run --controllers environments" runs for this cluster\n',
    );
    expect((await unattended.run('env', 'list')).stdout).toMatch(/^alone +pending +0\/1 +\S+ +a=b/m);
    expect(await unattended.run('env', 'delete', 'alone')).toMatchObject({ code: 0 });
  } finally {
    await unattended.stop();
  }
});

test('the tests above leave no objects behind', async () => {
  const leftovers = [];
  for (const kind of [Deployment, DestinationRule]) {
    const { items } = await shop.client.list<Deployment | DestinationRule>(kind, { namespace: 'shop' });
    leftovers.push(...items.filter(({ metadata }) => metadata.name.includes('-shop-')));
  }
  expect(leftovers).toEqual([]);
});

test(
  'apply creates or changes an environment and is idempotent; set-image changes an image',
  { timeout: 60_000 },
  async () => {
    const apply = (image: string, ...more: string[]) =>
      shop.run('env', 'apply', 'pr-7', '--subset', `cart=${image}`, '--key', 'pr-7', ...more);
    const stored = async () => {
      const { spec } = await shop.client.get(DynamicEnv, { name: 'pr-7', namespace: 'shop' });
      return { key: spec.key, image: spec.subsets[0]!.containers![0]!.image };
    };
    const name = 'dynamicenv.riskified.com/pr-7';
    expect(await apply('cart:2', '--wait')).toMatchObject({ code: 0, stdout: `${name} created\n` });
    expect(await apply('cart:2')).toMatchObject({ code: 0, stdout: `${name} unchanged\n` });
    expect(await apply('cart:3', '--wait')).toMatchObject({ code: 0, stdout: `${name} configured\n` });
    const set = (...more: string[]) => shop.run('env', 'set-image', 'pr-7', ...more);
    expect(await set('cart=cart:4', '--dry-run=server')).toMatchObject({
      code: 0,
      stdout: `${name} image updated (server dry run)\n`,
    });
    expect(await stored()).toEqual({ key: 'pr-7', image: 'cart:3' });
    expect(await set('cart=cart:4', '--wait')).toMatchObject({ code: 0, stdout: `${name} image updated\n` });
    expect(await set('cart=cart:4')).toMatchObject({ code: 0, stdout: `${name} unchanged\n` });
    expect(await stored()).toEqual({ key: 'pr-7', image: 'cart:4' });
    // apply does not conflict with what set-image wrote.
    expect(await apply('cart:5')).toMatchObject({ code: 0, stdout: `${name} configured\n`, stderr: '' });
    expect(await stored()).toEqual({ key: 'pr-7', image: 'cart:5' });
    expect(await shop.run('env', 'apply', 'pr-7', '--subset', 'cart=cart:5', '--key', 'pr-8')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('spec.key field is immutable') as unknown,
    });
    const created = await shop.run('env', 'create', 'pr-7', '--subset', 'cart=cart:9', '--key', 'pr-7');
    expect(created).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('offshoot env apply changes it') as unknown,
    });
    expect(await shop.run('env', 'list')).toMatchObject({
      stdout: expect.stringMatching(/pr-7 .* key=pr-7/) as unknown,
    });
    await shop.run('env', 'delete', 'pr-7');
  },
);

test('gitops ignore prints the ignore rules of a GitOps tool, without a cluster', async () => {
  const all = await shop.run('gitops', 'ignore', '--help');
  expect(all.code).toBe(0);
  expect(await shop.run('gitops', 'ignore', 'argocd')).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('startswith("dynamic-environment-")') as unknown,
  });
});
