// `-o`, `--no-headers` and names, for all commands that list or show objects.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DynamicEnv } from '../api/dynamicenv.ts';
import { everyCommand } from './testing/commands.ts';
import { openShop } from './testing/shop.ts';
import type { Shop } from './testing/shop.ts';

let shop: Shop;
beforeAll(async () => {
  shop = await openShop({ controller: false });
  await shop.deploy('cart');
  for (const name of ['one', 'two']) {
    await shop.client.create(DynamicEnv, {
      apiVersion: 'riskified.com/v1alpha1',
      kind: 'DynamicEnv',
      metadata: { name, namespace: 'shop', labels: { team: name } },
      spec: {
        istioMatches: [{ headers: { a: { exact: name } } }],
        subsets: [
          { name: 'cart', namespace: 'shop', containers: [{ containerName: 'cart', image: 'cart:2', env: [] }] },
        ],
      },
    });
  }
}, 60_000);
afterAll(() => shop.stop());

const printed = async (...args: string[]): Promise<string> => {
  const { code, stdout, stderr } = await shop.run(...args);
  expect([code, stderr]).toEqual([0, '']);
  return stdout;
};

test('every command that prints JSON also accepts a jsonpath template', () => {
  const outputs = everyCommand().flatMap((command) => command.options.filter(({ long }) => long === '--output'));
  expect(outputs.length).toBeGreaterThan(20);
  for (const { argChoices = [] } of outputs) {
    expect(argChoices.includes('jsonpath=')).toBe(argChoices.includes('json') && argChoices.includes('yaml'));
  }
});

describe('a list command', { timeout: 60_000 }, () => {
  test('evaluates a jsonpath template as kubectl does', async () => {
    expect(await printed('env', 'list', '-o', 'jsonpath={.items[*].metadata.name}')).toBe('one two');
    const template = '{range .items[?(@.metadata.labels.team=="two")]}{.metadata.name}{"\\n"}{end}';
    expect(await printed('env', 'list', `-o=jsonpath=${template}`)).toBe('two\n');
  });

  test('omits the headings with --no-headers', async () => {
    expect(await printed('env', 'list', '--no-headers')).toMatch(/^one {3}\S.*\ntwo {3}\S.*\n$/);
  });

  test('prints a single named object without a List', async () => {
    expect(await printed('env', 'get', 'two', '-o', 'jsonpath={.kind} {.metadata.name}')).toBe('DynamicEnv two');
    expect(await printed('env', 'get', 'two', 'one', '-o', 'name')).toBe(
      'dynamicenv.riskified.com/two\ndynamicenv.riskified.com/one\n',
    );
    expect(JSON.parse(await printed('env', 'get', 'two', 'one', '-o', 'json'))).toMatchObject({ kind: 'List' });
    expect((await shop.run('env', 'get', 'on')).stderr).toContain('there is no environment on in namespace shop');
  });

  test.each([
    [['env', 'get', 'one', '-A'], 'NAME and -A: give one of them'],
    [['env', 'get', 'one', '-l', 'a=b'], 'NAME and -l: give one of them'],
    [['env', 'get', 'one', 'two', '-w'], 'NAME: with -w, give one of them'],
    [['env', 'list', '-o', 'jsonpath={.kind'], 'is invalid. A { is not closed.'],
    [['env', 'list', '-o', 'jsonpath='], 'The template is missing'],
    [['env', 'list', '-o', 'jsonpath'], 'Allowed choices are table, wide, json, yaml, name, jsonpath='],
    [['env', 'list', '-o', 'jsonpath={.items[7]}'], '-o jsonpath={.items[7]}: there is no index 7 in a list of 2'],
    [['env', 'delete', 'one', '-o', 'jsonpath={.kind}'], 'Allowed choices are name'],
  ])('rejects %j', async (args, message) => {
    const { code, stdout, stderr } = await shop.run(...args);
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toContain(message);
  });
});

test('write commands print the changed objects in one document', { timeout: 60_000 }, async () => {
  const asleep = '{.metadata.annotations.offshoot\\.dev/asleep}';
  expect(await printed('env', 'sleep', 'one', '-o', `jsonpath=${asleep}`)).toBe('true');
  expect(await printed('env', 'wake', 'one', '--dry-run', 'client', '-o', `jsonpath=${asleep}.`)).toBe('.');
  expect(JSON.parse(await printed('env', 'wake', 'one', 'two', '-o', 'json'))).toMatchObject({
    kind: 'List',
    items: [{ metadata: { name: 'one' } }, { metadata: { name: 'two' } }],
  });
});

test('a jsonpath template also works on results that are not objects', { timeout: 60_000 }, async () => {
  expect(await printed('explain', 'http://cart:9080', '-o', 'jsonpath={.decision.kind}')).not.toBe('');
  expect((await shop.run('doctor', '-o', 'jsonpath={.workloads}')).stdout).toBe('1');
});
