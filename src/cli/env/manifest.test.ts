import { describe, expect, test } from 'vitest';
import type { Deployment } from '../../environments/objects.ts';
import { buildManifest, parseFlags } from './manifest.ts';
import type { Base, ManifestFlags } from './manifest.ts';

function base(...containers: string[]): Base {
  const template = { spec: { containers: containers.map((name) => ({ name })) } };
  const found: Deployment = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'any' },
    spec: { selector: {}, template },
  };
  return { found };
}

function manifest(flags: ManifestFlags, bases: Readonly<Record<string, Base>> = {}): ReturnType<typeof buildManifest> {
  const header = flags.header ?? flags.sourceLabel ?? ['end-user=alice'];
  const flags_ = parseFlags('feature', 'shop', flags.sourceLabel ? flags : { ...flags, header });
  return buildManifest(flags_, ({ namespace, name }) => bases[`${namespace}/${name}`] ?? base('main'));
}

describe('a manifest from flags', () => {
  const pinned = `front@sha256:${'0'.repeat(64)}`;

  test('contains everything that the flags set', () => {
    const flags = {
      subset: ['cart=registry.example:5000/cart:2', `web/front:app=${pinned}`, 'web/front:proxy=proxy:3'],
      consumer: ['worker=worker:2'],
      header: ['end-user=alice', 'beta^=1'],
      sourceLabel: ['example.com/team=blue'],
      env: ['LOG=debug', 'EMPTY='],
      replicas: 2,
    };
    const env = [
      { name: 'LOG', value: 'debug' },
      { name: 'EMPTY', value: '' },
    ];
    expect(manifest(flags, { 'web/front': base('app', 'proxy') })).toEqual({
      apiVersion: 'riskified.com/v1alpha1',
      kind: 'DynamicEnv',
      metadata: { name: 'feature', namespace: 'shop' },
      spec: {
        istioMatches: [
          {
            headers: { 'end-user': { exact: 'alice' }, beta: { prefix: '1' } },
            sourceLabels: { 'example.com/team': 'blue' },
          },
        ],
        subsets: [
          {
            name: 'cart',
            namespace: 'shop',
            replicas: 2,
            containers: [{ containerName: 'main', image: 'registry.example:5000/cart:2', env }],
          },
          {
            name: 'front',
            namespace: 'web',
            replicas: 2,
            containers: [
              { containerName: 'app', image: pinned, env },
              { containerName: 'proxy', image: 'proxy:3', env },
            ],
          },
        ],
        consumers: [
          {
            name: 'worker',
            namespace: 'shop',
            replicas: 2,
            containers: [{ containerName: 'main', image: 'worker:2', env }],
          },
        ],
      },
    });
  });

  test('may match by a source label alone', () => {
    const { spec } = manifest({ subset: ['cart=cart:2'], sourceLabel: ['app=web'] });
    expect(spec.istioMatches).toEqual([{ sourceLabels: { app: 'web' } }]);
  });
});

const FORM = 'write it as [namespace/]deployment[:container]=image, such as cart=registry.example/cart:2';

describe('an error names the flag, what was found and what to do', () => {
  test.each<[ManifestFlags, string]>([
    [{}, 'name at least one Deployment with --subset deployment=image or --consumer deployment=image'],
    [{ subset: ['cart'] }, `--subset "cart": the image is missing; ${FORM}`],
    [{ subset: ['cart='] }, `--subset "cart=": the image is missing; ${FORM}`],
    [{ subset: ['=cart:2'] }, `--subset "=cart:2": "" can't be a deployment name; ${FORM}`],
    [{ subset: ['/cart=c'] }, `--subset "/cart=c": "" can't be a namespace name; ${FORM}`],
    [{ subset: ['cart:=c'] }, `--subset "cart:=c": "" can't be a container name; ${FORM}`],
    [{ subset: ['a/b/c=d'] }, `--subset "a/b/c=d": "a/b/c" does not name a Deployment; ${FORM}`],
    [{ consumer: ['Cart=c'] }, `--consumer "Cart=c": "Cart" can't be a deployment name; ${FORM}`],
    [{ subset: ['cart=c 2'] }, `--subset "cart=c 2": "c 2" can't be an image: an image contains no space`],
    [
      { subset: ['cart=c:2'], key: 'a b' },
      '--key "a b": it must be at most 63 letters, digits, "-", "." and "_", with a letter or digit at both ends',
    ],
    [{ subset: ['cart=c', 'shop/cart=d'] }, '--subset "shop/cart=d": container main of shop/cart is given twice'],
    [
      { subset: ['cart=c'], consumer: ['shop/cart=c'] },
      '--subset "cart=c": shop/cart is also given with --consumer; it can be only one of the two',
    ],
    [
      { subset: ['cart=c'], header: [] },
      'say which requests should reach it, with --key value, --header name=value or --source-label name=value',
    ],
    [
      { subset: ['cart=c'], header: ['who'] },
      '--header "who": write it as name=value, name^=prefix or name~=regular-expression',
    ],
    [{ subset: ['cart=c'], header: ['a=b', 'A=c'] }, '--header "A=c": header a is given twice'],
    [{ subset: ['cart=c'], sourceLabel: ['app'] }, '--source-label "app": write it as name=value'],
    [{ subset: ['cart=c'], sourceLabel: ['a=b,c=d'] }, '--source-label "a=b,c=d": write it as name=value'],
    [
      { subset: ['cart=c'], sourceLabel: ['a b=c'] },
      '--source-label "a b=c": "a b" is not a label key: the name must be 1 to 63 letters, digits, "-", "_" or ".", a letter or digit at both ends',
    ],
    [
      { subset: ['cart=c'], sourceLabel: ['app=*'] },
      '--source-label "app=*": "*" is not a label value: it must be at most 63 letters, digits, "-", "_" or ".", a letter or digit at both ends',
    ],
    [{ subset: ['cart=c'], sourceLabel: ['a=b', 'a=c'] }, '--source-label "a=c": label a is given twice'],
    [
      { subset: ['cart=c'], env: ['=2'] },
      '--env "=2": write it as NAME=value; a name has at least one character, all printable ASCII other than "="',
    ],
    [{ subset: ['cart=c'], env: ['A=1', 'A=2'] }, '--env "A=2": A is given twice'],
  ])('for %j', (flags, message) => {
    expect(() => manifest(flags)).toThrow(message);
  });

  test('for an invalid label value', () => {
    const flags = { subset: ['cart=c'], sourceLabel: [`app=${'x'.repeat(64)}`] };
    expect(() => manifest(flags)).toThrow(/^--source-label "app=x+": .* is not a label value/);
  });

  test.each(['Feature', '-feature', 'feature.1', 'x'.repeat(64), ''])('for the name "%s"', (name) => {
    expect(() => parseFlags(name, 'shop', { subset: ['cart=c'], header: ['a=b'] })).toThrow(
      `NAME "${name}": it must be`,
    );
  });

  test.each<[string, Base, string]>([
    [
      'crt=c',
      { others: ['web', 'cart', 'cart-db'] },
      'there is no Deployment crt in namespace shop; did you mean cart?',
    ],
    ['zzzz=c', { others: ['web', 'cart'] }, 'there is no Deployment zzzz in namespace shop; there are web, cart'],
    ['cart=c', { others: [] }, 'there is no Deployment cart in namespace shop; the namespace has none'],
    [
      'cart=c:1',
      { others: [], isForLater: true },
      'there is no Deployment cart in namespace shop; the namespace has none; for a cluster that has it, name the container as cart:CONTAINER=c:1',
    ],
    ['cart=c', base('a', 'b'), 'Deployment shop/cart has the containers a, b; name one as cart:a=…'],
    ['cart:x=c', base('a', 'b'), 'Deployment shop/cart has no container x; it has a, b'],
  ])('for %s', (text, found, message) => {
    const key = `shop/${/^[a-z]+/.exec(text)![0]}`;
    expect(() => manifest({ subset: [text] }, { [key]: found })).toThrow(`--subset "${text}": ${message}`);
  });
});
