import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Command } from 'commander';
import { afterAll, afterEach, expect, test, vi } from 'vitest';
import { createAuthority } from '../../kube/pki.ts';
import { defaultSettings } from '../../targets/settings.ts';
import { targetFlags, targetSettings } from './target-flags.ts';
import type { TargetOptions } from './target-flags.ts';

const dir = mkdtempSync(path.join(tmpdir(), 'offshoot-flags-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));
afterEach(() => vi.unstubAllEnvs());

function parsed(...args: string[]): ReturnType<typeof targetSettings> {
  const command = targetFlags(new Command('run'))
    .exitOverride()
    .configureOutput({ writeErr: () => undefined });
  return targetSettings(command.parse(args, { from: 'user' }).opts<TargetOptions>());
}

test('targetSettings are the defaults without flags', () => {
  const { hostNamespace: _host, defaultTier: _tier, cluster, ...settings } = defaultSettings;
  const { server: _server, ...named } = cluster;
  expect(parsed()).toEqual({ ...settings, cluster: named });
});

test('targetSettings has the value of every flag', () => {
  const { certPem } = createAuthority({ commonName: 'test', days: 1 });
  const ca = path.join(dir, 'ca.crt');
  writeFileSync(ca, certPem);
  const args = `--claim-deletion eager --provisioner-annotation class --claim-ref-shape object --lost-heals name
    --unbound-condition=false --remove-unbound --insecure-targets --provisioning-deadline 90s --token-lifetime 12h
    --target-cluster-url https://api.test:6443 --target-cluster-ca ${ca} --target-cluster-name member-1
    --target-cluster-roles a,b --space-controllers=false --host-namespace host`.split(/\s+/);
  expect(parsed(...args, '--root-space', '')).toEqual({
    claimDeletion: 'eager',
    provisionerAnnotation: 'class',
    claimRefShape: 'object',
    lostHeals: 'name',
    unboundCondition: false,
    removeUnbound: true,
    insecureTargets: true,
    provisioningDeadlineMs: 90_000,
    tokenLifetimeMs: 43_200_000,
    spaceControllers: false,
    hostNamespace: 'host',
    rootSpace: '',
    cluster: {
      name: 'member-1',
      roles: ['a', 'b'],
      server: 'https://api.test:6443',
      caPem: certPem,
      insecureSkipTlsVerify: false,
    },
  });
});

test('targetFlags reads environment variables', () => {
  vi.stubEnv('CLAIM_DELETION', 'eager');
  vi.stubEnv('SPACE_CONTROLLERS', 'false');
  vi.stubEnv('TARGET_CLUSTER_CA', 'system');
  vi.stubEnv('DEV_ONLY_IGNORE_SELFSIGNED_CERT_IN_DEPLOYMENT_TARGET', 'TRUE');
  expect(parsed()).toMatchObject({
    claimDeletion: 'eager',
    spaceControllers: false,
    insecureTargets: true,
    cluster: { caPem: '' },
  });
});

test.each<[string, string, string]>([
  ['--claim-deletion', 'later', 'Allowed choices are wait, eager.'],
  ['--claim-ref-shape', 'list', 'Allowed choices are string, object.'],
  ['--space-controllers', 'off', 'It is true or false.'],
  ['--token-lifetime', '5m', 'It must be at least 10m.'],
  ['--provisioning-deadline', 'soon', 'A duration is a number with a unit, such as 90s, 1m30s or 2d.'],
  ['--target-cluster-url', 'api.test:6443', 'A URL is written as https://host:port.'],
  ['--target-cluster-ca', '/nowhere/ca.crt', 'It is not a certificate: ENOENT'],
  ['--target-cluster-ca', import.meta.filename, 'It is not a certificate: '],
  ['--host-namespace', 'My_Host', 'A name is at most 63 lowercase letters, digits and hyphens.'],
])('targetFlags rejects %s %s', (flag, value, text) => {
  expect(() => parsed(`${flag}=${value}`)).toThrow(text);
});
