import { expect, test } from 'vitest';
import type { IstioSpec } from '../../api/istio.ts';
import { invalidSpec } from './validate.ts';

const authorizer = (name: string) => ({ name, service: 's', port: 80 });

test.each<[string, IstioSpec, string, string, string?]>([
  [
    'two authorizers with the same name',
    { config: { authorizers: ['test-authorizer', 'b', 'test-authorizer'].map(authorizer) } },
    'Warning',
    'Authorizer name needs to be unique: test-authorizer is duplicated',
    'spec.config.authorizers[2].name',
  ],
  [
    'an experimental feature',
    { experimental: { enableAmbient: true } },
    'Error',
    'Experimental features are not supported in this image flavour: istio CR contains experimental feature',
    'spec.experimental.enableAmbient: allow it with --istio-experimental',
  ],
  [
    'an invalid regular expression',
    { config: { proxyStatsMatcher: { inclusionRegexps: ['a.*', '(?=a)'] } } },
    'Error',
    'ProxyStatsMatcher inclusionRegexps contains an invalid regular expression: spec.config.proxyStatsMatcher.inclusionRegexps[1]: "(?=a)"',
  ],
  [
    'an invalid port',
    { config: { authorizers: [{ ...authorizer('a'), port: 99_999 }] } },
    'Error',
    'spec.config.authorizers[0].port: must be between 1 and 65535, found 99999',
  ],
  ...['1.5ms', '0s', 'soon'].map((timeout): [string, IstioSpec, string, string] => [
    `the timeout ${timeout}`,
    { config: { authorizers: [{ ...authorizer('a'), timeout }] } },
    'Error',
    `spec.config.authorizers[0].timeout: must be whole milliseconds such as 500ms or 2s, found "${timeout}"`,
  ]),
  [
    'a request above its limit',
    { components: { proxy: { k8s: { resources: { requests: { cpu: '2' }, limits: { cpu: '1500m' } } } } } },
    'Error',
    'spec.components.proxy.k8s.resources.requests.cpu: must not be more than the limit 1500m, found "2"',
  ],
])('invalidSpec reports %s without a retry', (_what, spec, state, text, detail = '') => {
  const found = invalidSpec(spec, false);
  expect(found).toMatchObject({ state, retry: 'never', conditions: [{ reason: 'ValidationFailed' }] });
  expect(found!.description).toContain(text);
  // The detail is added to the fixed text.
  expect(found!.message).toBe(detail === '' ? found!.description : `${text} (${detail})`);
});

test('invalidSpec accepts other specs, and experimental features if they are allowed', () => {
  expect(invalidSpec({ config: { authorizers: [authorizer('a'), authorizer('b')] } }, false)).toBeUndefined();
  expect(invalidSpec({ experimental: { enableAmbient: true } }, true)).toBeUndefined();
});
