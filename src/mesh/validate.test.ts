import { expect, test } from 'vitest';
import type { IstioSpec } from '../api/istio.ts';
import { invalidSpec } from './validate.ts';

const authorizer = (name: string) => ({ name, service: 's', port: 80 });

test.each<[string, IstioSpec, string, string]>([
  [
    'two authorizers of one name',
    { config: { authorizers: ['test-authorizer', 'b', 'test-authorizer'].map(authorizer) } },
    'Warning',
    'Authorizer name needs to be unique: test-authorizer is duplicated',
  ],
  [
    'an experimental feature',
    { experimental: {} },
    'Error',
    'Experimental features are not supported in this image flavour: istio CR contains experimental feature',
  ],
  [
    'an invalid regular expression',
    { config: { proxyStatsMatcher: { inclusionRegexps: ['a.*', '(?=a)'] } } },
    'Error',
    'ProxyStatsMatcher inclusionRegexps contains an invalid regular expression: spec.config.proxyStatsMatcher.inclusionRegexps[1]: "(?=a)"',
  ],
])('%s is reported and not tried again', (_what, spec, state, text) => {
  const found = invalidSpec(spec, false);
  expect(found).toMatchObject({ state, retry: 'never', conditions: [{ reason: 'ValidationFailed' }] });
  expect(found!.description).toContain(text);
});

test('a spec without such a problem may be installed, and experimental features where they are allowed', () => {
  expect(invalidSpec({ config: { authorizers: [authorizer('a'), authorizer('b')] } }, false)).toBeUndefined();
  expect(invalidSpec({ experimental: { enableAmbient: true } }, true)).toBeUndefined();
});
