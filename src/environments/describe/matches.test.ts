import { assert, constantFrom, property, string, stringMatching } from 'fast-check';
import { expect, test } from 'vitest';
import type { DynamicEnv } from '../../api/dynamicenv.ts';
import { baggageRegex } from '../../traffic/baggage.ts';
import { exampleCall, formatHeader, formatMatches, formatRequests, parseHeader } from './matches.ts';
import type { CalledRequest } from './matches.ts';

test.each([
  ['end-user=alice', { name: 'end-user', match: { exact: 'alice' } }],
  ['end-user^=al', { name: 'end-user', match: { prefix: 'al' } }],
  ['end-user~=a.*', { name: 'end-user', match: { regex: 'a.*' } }],
  ['X-Key=a=b^=c', { name: 'x-key', match: { exact: 'a=b^=c' } }],
  ['end-user', undefined],
  ['end-user=', undefined],
  ['=alice', undefined],
  ['end user=alice', undefined],
])('parseHeader parses --header %s', (text, expected) => {
  expect(parseHeader(text)).toEqual(expected);
});

test('parseHeader parses what formatHeader prints', () => {
  const name = stringMatching(/^[a-z][a-z0-9-]{0,20}$/);
  const form = constantFrom('exact', 'prefix', 'regex');
  assert(
    property(name, form, string({ minLength: 1 }), (header, kind, value) => {
      const match = { [kind]: value };
      expect(parseHeader(formatHeader(header, match))).toEqual({ name: header, match });
    }),
  );
});

test('formatMatches joins conditions by commas, and alternatives by "or"', () => {
  const text = formatMatches([
    { headers: { 'end-user': { prefix: 'al' }, beta: { exact: '1' } } },
    { sourceLabels: { app: 'web' } },
  ]);
  expect(text).toBe('end-user^=al,beta=1 or source:app=web');
});

test('formatRequests shows a key as it is in the spec, formatMatches as it is in routes', () => {
  const istioMatches = [{ headers: { user: { exact: 'al' } } }];
  const requests = (spec: Pick<DynamicEnv['spec'], 'key' | 'istioMatches'>): string =>
    formatRequests({ spec: { ...spec, subsets: [] } });
  expect(requests({ key: 'pr-7' })).toBe('key=pr-7');
  expect(requests({ key: 'pr-7', istioMatches })).toBe('key=pr-7 or user=al');
  expect(requests({ istioMatches })).toBe('user=al');
  expect(formatMatches([{ headers: { baggage: { regex: baggageRegex('pr-7') } } }])).toBe(
    'baggage that holds env=pr-7',
  );
});

test.each<[Partial<CalledRequest>, string]>([
  [{ headers: { 'end-user': 'alice' } }, `curl -H 'end-user: alice' http://cart/`],
  [{ headers: { who: "o'neill" } }, `curl -H 'who: o'\\''neill' http://cart/`],
  [{ method: 'POST', path: '/a?b=c' }, `curl -X POST http://cart'/a?b=c'`],
  [{ source: { namespace: '', labels: { app: 'web' } } }, 'curl http://cart/  # from a pod with the labels app=web'],
])('exampleCall prints the request %j', (request, expected) => {
  expect(exampleCall({ path: '/', source: { namespace: '' }, ...request }, { url: 'http://cart' })).toBe(expected);
});

test.each([
  [{ uri: { prefix: '/api' } }, 'uri prefix /api'],
  [{ gateways: ['mesh', 'edge/public'], port: 80 }, 'gateways mesh edge/public,port 80'],
  [{ withoutHeaders: { user: { exact: 'bob' } } }, 'withoutHeaders user=bob'],
  [{ ignoreUriCase: true }, 'ignoreUriCase true'],
])('formatMatches prints other conditions of a route: %j', (match, text) => {
  expect(formatMatches([match])).toBe(text);
});
