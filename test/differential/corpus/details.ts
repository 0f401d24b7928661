// Fields that are refused: a changed type of a secret, special addresses of endpoints, a resourceVersion on creation.
import { apply, configMap, core, inGroup, patch, post, put, scenario } from '../scenario.ts';
import type { Scenario } from '../scenario.ts';

const secrets = core('secrets');

function secret(name: string, more: object): object {
  return { apiVersion: 'v1', kind: 'Secret', metadata: { name }, ...more };
}

const addresses = [
  '10.1.2.3',
  '0.0.0.0',
  '127.0.0.1',
  '169.254.1.1',
  '224.0.0.5',
  '224.1.1.1',
  '::1',
  'fe80::1',
  'ff02::1',
  '::',
  'name',
];
const slices = inGroup('discovery.k8s.io/v1', 'endpointslices');

function endpoints(ip: string): object {
  const metadata = { generateName: 'e-' };
  return { apiVersion: 'v1', kind: 'Endpoints', metadata, subsets: [{ addresses: [{ ip }], ports: [{ port: 80 }] }] };
}

function slice(address: string, addressType: string): object {
  const metadata = { generateName: 'e-' };
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata,
    addressType,
    endpoints: [{ addresses: [address] }],
    ports: [],
  };
}

const refusal = { only: ['code', 'reason', 'details.causes'] };

export const details: readonly Scenario[] = [
  scenario(
    'the type of a secret is immutable',
    post(secrets, secret('typed', { type: 'kubernetes.io/dockercfg', stringData: { '.dockercfg': '{}' } })),
    put(core('secrets', 'typed'), secret('typed', { type: 'Opaque' })),
    put(core('secrets', 'typed'), secret('typed', { stringData: { '.dockercfg': '{"a":1}' } })),
    patch('merge', core('secrets', 'typed'), { type: 'example.com/mine' }),
    patch('merge', core('secrets', 'typed'), { type: null }),
    patch('strategic', core('secrets', 'typed'), { stringData: { '.dockercfg': '{"a":1}' } }),
    apply('me', core('secrets', 'typed'), secret('typed', { type: 'Opaque' }), { query: { force: 'true' } }),
  ),
  scenario(
    'invalid addresses of endpoints',
    ...addresses.map((ip) => post(core('endpoints'), endpoints(ip), refusal)),
    ...addresses.map((ip) => post(slices, slice(ip, ip.includes(':') ? 'IPv6' : 'IPv4'), refusal)),
    post(slices, slice('10.1.2.3', 'IPv6'), refusal),
    post(slices, slice('fd00::1', 'IPv4'), refusal),
    post(slices, slice('example.com', 'FQDN'), refusal),
  ),
  scenario(
    'creations with a resourceVersion',
    post(core('configmaps'), configMap('a', {}, { resourceVersion: '5' })),
    post(core('configmaps'), configMap('a', {}, { resourceVersion: '5' }), {
      query: { dryRun: 'All' },
      only: ['kind'],
    }),
    post(core('configmaps'), configMap('A_', {}, { resourceVersion: '5' })),
    post(core('configmaps'), configMap('a', {}, { resourceVersion: '0' })),
    post(core('configmaps'), configMap('a', {}, { resourceVersion: '5' })),
    post(core('configmaps'), configMap('b', {}, { resourceVersion: 'nonsense' }), { only: ['code', 'reason'] }),
  ),
];
