// The order of routes: each of them gets requests, or is reported as shadowed.
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { matchesRegex } from '../../traffic/regex/regex.ts';
import type { Match, Route } from '../model.ts';
import { inOrder, shadowed } from './order.ts';

const rule = { name: 'rule', namespace: 'shop' };
const NO_CONDITIONS = { headers: [], query: [], methods: [] };
const KINDS = { '=': 'exact', '^': 'prefix', '~': 'regex' } as const;

/** A route for `=/exact`, `^/prefix` or `~/regex`. */
function route(path: string, conditions: Partial<Match> = {}): Route {
  const kind = KINDS[path[0] as keyof typeof KINDS];
  return {
    rule,
    matcher: 0,
    split: [],
    match: { path: { kind, value: path.slice(1) }, ...NO_CONDITIONS, ...conditions },
  };
}

const text = ({ match: { path, headers } }: Route): string =>
  `${{ exact: '=', prefix: '^', regex: '~' }[path.kind]}${path.value}${headers.map(({ name }) => ` ${name}`).join('')}`;
const header = (name: string): Partial<Match> => ({ headers: [{ name, value: '', regex: false }] });

test('inOrder sorts exact paths first, then the longest prefix, and regular expressions before their common prefix', () => {
  const given = ['^/', '~.*\\.png', '^/items/1', '~/items/[0-9]+', '^/items/', '=/items/12', '~/(a|b).*'];
  expect(inOrder(given.map((each) => route(each))).map(text)).toEqual([
    '=/items/12',
    '^/items/1',
    '~/items/[0-9]+',
    '^/items/',
    '~.*\\.png',
    '~/(a|b).*',
    '^/',
  ]);
});

test('inOrder puts more conditions first if the paths are equal', () => {
  const given = [route('^/'), route('^/', header('a')), route('~/.*'), route('~/.*', header('b'))];
  expect(inOrder(given).map(text)).toEqual(['~/.* b', '~/.*', '^/ a', '^/']);
});

test.each<[string, readonly Route[], readonly string[]]>([
  ['the same prefix', [route('^/a'), route('~/a.*')], ['^/a by ~/a.*']],
  ['a regular expression within another', [route('~/.*'), route('~/.*x')], ['~/.*x by ~/.*']],
  ['more conditions', [route('~/.*'), route('^/', header('a'))], ['^/ a by ~/.*']],
  ['fewer conditions', [route('~/.*', header('a')), route('^/')], []],
  ['another method', [route('~/.*', { methods: ['GET'] }), route('^/', { methods: ['POST'] })], []],
  [
    'one of several methods',
    [route('~/.*', { methods: ['GET', 'PUT'] }), route('^/', { methods: ['GET'] })],
    ['^/ by ~/.*'],
  ],
  ['any method', [route('~/.*', { methods: ['GET'] }), route('^/')], []],
  ['the same match, which is not reported', [route('~/.*'), route('~/.*')], []],
  ['a longer prefix', [route('~/a.*'), route('^/ab')], []],
])('shadowed finds routes that get no requests: %s', (_what, routes, expected) => {
  expect(shadowed(routes).map(({ route: each, by }) => `${text(each)} by ${text(by)}`)).toEqual(expected);
});

const PATHS = ['/', '/a', '/ab', '/a/b', '/b', '/ba', '/aa', '/abab'];

test('every route that matches some path gets a request, unless it is reported as shadowed', () => {
  const paths = fc.constantFrom('^/', '^/a', '^/ab', '=/a', '=/ab', '~/.*', '~/a.*', '~.*b', '~/(a|b)+', '~/a?b');
  fc.assert(
    fc.property(fc.uniqueArray(paths, { minLength: 2, maxLength: 2 }), (given) => {
      const routes = given.map((each) => route(each));
      const fits = ({ match: { path } }: Route, at: string): boolean =>
        path.kind === 'exact'
          ? at === path.value
          : path.kind === 'prefix'
            ? at.startsWith(path.value)
            : matchesRegex(path.value, at);
      const taken = new Set(PATHS.map((at) => inOrder(routes).find((each) => fits(each, at))));
      const isReported = (each: Route): boolean => shadowed(routes).some(({ route: hidden }) => hidden === each);
      const dead = routes.filter((each) => PATHS.some((at) => fits(each, at)) && !taken.has(each) && !isReported(each));
      expect(dead.map(text)).toEqual([]);
    }),
  );
});
