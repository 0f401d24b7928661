// The order of routes: something is left to each of them, or it is told.
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { fitsRegex } from '../../traffic/regex.ts';
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

test('exact paths, then the longest prefix, with regular expressions before the prefix that they begin with', () => {
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

test('of equal paths the one with more conditions comes first', () => {
  const given = [route('^/'), route('^/', header('a')), route('~/.*'), route('~/.*', header('b'))];
  expect(inOrder(given).map(text)).toEqual(['~/.* b', '~/.*', '^/ a', '^/']);
});

test.each<[string, readonly Route[], readonly string[]]>([
  ['a prefix that is the same', [route('^/a'), route('~/a.*')], ['^/a by ~/a.*']],
  ['a regular expression within another', [route('~/.*'), route('~/.*x')], ['~/.*x by ~/.*']],
  ['one that asks for more', [route('~/.*'), route('^/', header('a'))], ['^/ a by ~/.*']],
  ['one that asks for less', [route('~/.*', header('a')), route('^/')], []],
  ['another method', [route('~/.*', { methods: ['GET'] }), route('^/', { methods: ['POST'] })], []],
  [
    'a method of several',
    [route('~/.*', { methods: ['GET', 'PUT'] }), route('^/', { methods: ['GET'] })],
    ['^/ by ~/.*'],
  ],
  ['any method', [route('~/.*', { methods: ['GET'] }), route('^/')], []],
  ['the same match is another matter', [route('~/.*'), route('~/.*')], []],
  ['a longer prefix', [route('~/a.*'), route('^/ab')], []],
])('a route that no request takes is found: %s', (_what, routes, wanted) => {
  expect(shadowed(routes).map(({ route: each, by }) => `${text(each)} by ${text(by)}`)).toEqual(wanted);
});

const PATHS = ['/', '/a', '/ab', '/a/b', '/b', '/ba', '/aa', '/abab'];

test('a route that some request would take alone is taken by one, unless it is told or others share its requests', () => {
  const paths = fc.constantFrom('^/', '^/a', '^/ab', '=/a', '=/ab', '~/.*', '~/a.*', '~.*b', '~/(a|b)+', '~/a?b');
  fc.assert(
    fc.property(fc.uniqueArray(paths, { minLength: 2, maxLength: 2 }), (given) => {
      const routes = given.map((each) => route(each));
      const fits = ({ match: { path } }: Route, at: string): boolean =>
        path.kind === 'exact'
          ? at === path.value
          : path.kind === 'prefix'
            ? at.startsWith(path.value)
            : fitsRegex(path.value, at);
      const taken = new Set(PATHS.map((at) => inOrder(routes).find((each) => fits(each, at))));
      const isTold = (each: Route): boolean => shadowed(routes).some(({ route: hidden }) => hidden === each);
      const dead = routes.filter((each) => PATHS.some((at) => fits(each, at)) && !taken.has(each) && !isTold(each));
      expect(dead.map(text)).toEqual([]);
    }),
  );
});
