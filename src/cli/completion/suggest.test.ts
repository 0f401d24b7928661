import { describe, expect, test } from 'vitest';
import { program } from '../main.ts';
import { imageSuggestions } from './images.ts';
import { suggest } from './suggest.ts';

const root = await program();
const offers = (...words: string[]): string[] => {
  const { known, value } = suggest(root, words);
  return known.map((each) => each.value).filter((each) => each.startsWith(value));
};
const liveKind = (...words: string[]): string | undefined => suggest(root, words).live;

test('suggest offers commands and subcommands, also below an alias', () => {
  expect(offers('en')).toEqual(['env']);
  expect(offers('env', 'd')).toEqual(['describe', 'delete']);
  expect(offers('env', 'ls', '--no-h')).toEqual(['--no-headers']);
  expect(offers('complete')).toEqual([]);
});

test('suggest offers values of a flag, as a separate word or after =', () => {
  const formats = ['table', 'wide', 'json', 'yaml', 'name', 'jsonpath='];
  expect(offers('env', 'list', '-o', '')).toEqual(formats);
  expect(offers('env', 'list', '--output', 'j')).toEqual(['json', 'jsonpath=']);
  expect(suggest(root, ['env', 'list', '--output=y'])).toMatchObject({ prefix: '--output=', value: 'y' });
  expect(offers('env', 'list', '--output=y')).toEqual(['yaml']);
  expect(offers('completion', 'z')).toEqual(['zsh']);
});

test.each<[string[], string | undefined]>([
  [['env', 'describe', ''], 'environments'],
  [['env', 'get', 'a', ''], 'environments'],
  [['env', 'describe', '-n', 'shop', ''], 'environments'],
  [['env', 'describe', '-n', ''], 'namespaces'],
  [['env', 'describe', '--namespace=s'], 'namespaces'],
  [['env', 'describe', '--context', ''], 'contexts'],
  [['env', 'describe', 'a', ''], undefined],
  [['env', 'create', ''], undefined],
  [['env', 'create', 'a', '--subset', ''], 'images'],
  [['env', 'apply', 'a', '--consumer=c'], 'images'],
  [['env', 'set-image', ''], 'environments'],
  [['env', 'set-image', 'a', ''], 'overrides'],
  [['plan', '--delete', ''], 'environments'],
  [['claim', 'plan', '--delete', ''], 'claims'],
  [['claim', 'create', 'x', '--class', ''], 'classes'],
  [['target', 'classes', ''], 'classes'],
  [['target', 'list', ''], 'targets'],
  [['routing', 'describe', ''], 'rules'],
  [['explain', '--why-not', ''], 'environments'],
  [['errors', ''], 'codes'],
  [['env', 'describe', '--', ''], 'environments'],
])('suggest %j needs the names of %s', (words, live) => {
  expect(liveKind(...words)).toBe(live);
});

test('suggest offers files only for flags that take one', () => {
  const isFile = (...words: string[]): boolean => suggest(root, words).isFile;
  expect([
    isFile('env', 'apply', '-f', ''),
    isFile('env', 'apply', '--filename=x'),
    isFile('env', 'apply', ''),
  ]).toEqual([true, true, false]);
});

describe('imageSuggestions', () => {
  const containers = [
    { deployment: 'cart', container: 'app', image: 'registry.test:5000/shop/cart:1' },
    { deployment: 'pay', container: 'app', image: 'pay@sha256:0123' },
    { deployment: 'pay', container: 'helper', image: 'helper' },
  ];
  test.each<[string, string[]]>([
    ['', ['cart=', 'pay:']],
    ['pay:', ['pay:app=', 'pay:helper=']],
    ['cart=', ['cart=registry.test:5000/shop/cart:']],
    ['pay:app=', ['pay:app=pay:']],
    ['pay=', ['pay=pay:', 'pay=helper:']],
    ['other=', []],
  ])('continue "%s"', (value, expected) => {
    expect(imageSuggestions(value, containers).map((each) => each.value)).toEqual(expected);
  });
});
