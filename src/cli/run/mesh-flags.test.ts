import { Command } from 'commander';
import { afterEach, expect, test, vi } from 'vitest';
import { builtinRenderer, defaultMeshSettings } from '../../mesh/index.ts';
import { meshFlags, meshSettings } from './mesh-flags.ts';
import type { MeshOptions } from './mesh-flags.ts';

afterEach(() => vi.unstubAllEnvs());

function parsed(...args: string[]): ReturnType<typeof meshSettings> {
  const command = meshFlags(new Command('run'))
    .exitOverride()
    .configureOutput({ writeErr: () => undefined });
  return meshSettings(command.parse(args, { from: 'user' }).opts<MeshOptions>());
}

test('meshSettings are the defaults without flags', () => {
  const { renderer, ...settings } = parsed();
  expect(defaultMeshSettings).toMatchObject(settings);
  expect(renderer?.name).toBe('istioctl istioctl');
});

test('meshSettings has the value of every flag', () => {
  const args = `--istio-version 1.30.2 --istio-hub registry.test/istio --istioctl /opt/istioctl --istio-experimental
    --istio-domain example.com --istio-image-pull-secret pull --restart-batch 3 --restart-uninjected
    --reconciliation-interval 1h --failure-base-delay 2s --failure-max-delay 16m40s --rate-limiter-burst 20
    --rate-limiter-frequency 3`.split(/\s+/);
  const { renderer, ...settings } = parsed(...args, '--restart-window', 'Sat-Sun 00:00-04:00');
  expect(settings).toEqual({
    istioVersion: '1.30.2',
    hub: 'registry.test/istio',
    allowExperimental: true,
    domain: 'example.com',
    imagePullSecret: 'pull',
    batchSize: 3,
    window: { days: [6, 0], from: 0, to: 14_400_000 },
    restartUninjected: true,
    reconciliationIntervalMs: 3_600_000,
    failureBaseDelayMs: 2_000,
    failureMaxDelayMs: 1_000_000,
    retryLimit: { burst: 20, perSecond: 3 },
  });
  expect(renderer?.name).toBe('istioctl /opt/istioctl');
  expect(parsed('--istio-renderer', 'built-in').renderer).toBe(builtinRenderer);
});

test('SKR_IMG_PULL_SECRET sets the pull secret, as in the original operator', () => {
  vi.stubEnv('SKR_IMG_PULL_SECRET', 'pull');
  expect(parsed().imagePullSecret).toBe('pull');
});

test.each([
  ['--istio-version', '1.31', 'A version of Istio has three numbers'],
  ['--restart-window', 'Sundays', 'A window is written like'],
  ['--restart-batch', '0', 'It must be a whole number of at least 1.'],
  ['--failure-base-delay', '0s', 'It must be at least 1ms.'],
])('meshFlags rejects %s %s', (flag, value, message) => {
  expect(() => parsed(flag, value)).toThrow(message);
});

test('meshSettings rejects --istioctl with the built-in renderer', () => {
  const args = ['--istio-renderer', 'built-in', '--istioctl', '/opt/istioctl'];
  expect(() => parsed(...args)).toThrow('--istioctl "/opt/istioctl": the built-in renderer calls none');
});
