import { expect, test } from 'vitest';
import { withFlagName, defaultAddress } from './addresses.ts';

test('defaultAddress is loopback on a laptop, and all addresses in a pod', () => {
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
    'a port that is in use',
    listening({ code: 'EADDRINUSE', port: 8080 }),
    '--metrics-bind-address: port 8080 is in use; choose another one',
  ],
  ['a port without permission', listening({ code: 'EACCES', port: 8080 }), '--metrics-bind-address: listen EACCES'],
  [
    'a host that does not exist',
    Object.assign(new Error('getaddrinfo ENOTFOUND'), { syscall: 'getaddrinfo', hostname: 'nowhere.invalid' }),
    '--health-probe-bind-address: getaddrinfo ENOTFOUND',
  ],
  ['an unrelated error', new Error('the cluster is gone'), 'the cluster is gone'],
  ['a failed connection to the same port', Object.assign(new Error('no'), { syscall: 'connect', port: 8080 }), 'no'],
])('withFlagName: %s', (_what, error, text) => {
  expect((withFlagName(error, flags) as Error).message).toBe(text);
});

test('withFlagName names both flags with the same port', () => {
  const error = listening({ code: 'EADDRINUSE', port: 9000 });
  const same = { '--metrics-bind-address': { port: 9000 }, '--webhook-port': { port: 9000 } };
  expect((withFlagName(error, same) as Error).message).toMatch(/^--metrics-bind-address and --webhook-port: port 9000/);
});
