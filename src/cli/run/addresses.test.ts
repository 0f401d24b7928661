import { expect, test } from 'vitest';
import { withFlagName, defaultAddress } from './addresses.ts';

test('on a laptop we listen on loopback, in a pod on all addresses', () => {
  expect(defaultAddress(8080, {})).toEqual({ host: '127.0.0.1', port: 8080 });
  expect(defaultAddress(8080, { KUBERNETES_SERVICE_HOST: '10.0.0.1' })).toEqual({ host: '', port: 8080 });
});

const flags = {
  '--metrics-bind-address': { host: '', port: 8080 },
  '--health-probe-bind-address': { host: 'nowhere.invalid', port: 8081 },
  '--webhook-port': undefined,
};
const listening = (fields: object): Error => Object.assign(new Error('listen EACCES'), { syscall: 'listen' }, fields);

test.each<[string, Error, string]>([
  [
    'a port that is taken',
    listening({ code: 'EADDRINUSE', port: 8080 }),
    '--metrics-bind-address: port 8080 is in use; choose another one',
  ],
  ['a port that may not be had', listening({ code: 'EACCES', port: 8080 }), '--metrics-bind-address: listen EACCES'],
  [
    'a host that does not exist',
    Object.assign(new Error('getaddrinfo ENOTFOUND'), { syscall: 'getaddrinfo', hostname: 'nowhere.invalid' }),
    '--health-probe-bind-address: getaddrinfo ENOTFOUND',
  ],
  ['another error', new Error('the cluster is gone'), 'the cluster is gone'],
  [
    'a connection to a port of the same number',
    Object.assign(new Error('no'), { syscall: 'connect', port: 8080 }),
    'no',
  ],
])('%s names its flag', (_what, error, text) => {
  expect((withFlagName(error, flags) as Error).message).toBe(text);
});

test('one port for two things names both flags', () => {
  const error = listening({ code: 'EADDRINUSE', port: 9000 });
  const same = { '--metrics-bind-address': { port: 9000 }, '--webhook-port': { port: 9000 } };
  expect((withFlagName(error, same) as Error).message).toMatch(/^--metrics-bind-address and --webhook-port: port 9000/);
});
