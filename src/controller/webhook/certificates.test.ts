import { X509Certificate } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, describe, expect, onTestFinished, test } from 'vitest';
import { FakeApi } from '../../../test/support/fake-api.ts';
import { FakeClock } from '../../../test/support/fake-clock.ts';
import { until } from '../../../test/support/until.ts';
import { ApiError } from '../../kube/errors.ts';
import { defineKind } from '../../kube/objects.ts';
import type { AnyObject } from '../../kube/objects.ts';
import { createAuthority } from '../../kube/pki.ts';
import { CertificateFiles } from './certificate-files.ts';
import { dueAt, renew } from './certificate-renewal.ts';
import { ManagedCertificates } from './certificates.ts';
import { createLogger } from '../logger.ts';

const Secret = defineKind('v1', 'Secret', 'secrets');
const DAY = 86_400_000;
const HOSTS = ['offshoot-webhook.offshoot.svc', 'localhost', '127.0.0.1'];
const START = Date.parse('2026-01-01T00:00:00Z');
const logger = createLogger({ level: 'silent' });

function authorities(pem: string): X509Certificate[] {
  return pem
    .split(/(?=-----BEGIN)/)
    .filter((part) => part.trim() !== '')
    .map((part) => new X509Certificate(part));
}

function isTrusted(certPem: string, bundle: string): boolean {
  const certificate = new X509Certificate(certPem);
  return authorities(bundle).some((authority) => certificate.verify(authority.publicKey));
}

describe('renew', () => {
  test('issues a certificate for all names and addresses for 90 days', () => {
    const data = renew(undefined, HOSTS, START);
    const certificate = new X509Certificate(data.certPem);
    expect(certificate.subjectAltName).toBe('DNS:offshoot-webhook.offshoot.svc, DNS:localhost, IP Address:127.0.0.1');
    expect(certificate.validToDate.getTime()).toBe(START + 90 * DAY);
    expect(isTrusted(data.certPem, data.caPem)).toBe(true);
  });

  test('does nothing until two thirds of the validity are over', () => {
    const data = renew(undefined, HOSTS, START);
    expect(renew(data, HOSTS, START + 59 * DAY)).toBe(data);
    const next = renew(data, HOSTS, START + 60 * DAY);
    expect(next.certPem).not.toBe(data.certPem);
    expect(next.caPem).toBe(data.caPem);
  });

  test('issues a new certificate of the same authority for another name', () => {
    const data = renew(undefined, HOSTS, START);
    const next = renew(data, [...HOSTS, 'hooks.example'], START + DAY);
    expect(new X509Certificate(next.certPem).checkHost('hooks.example')).toBe('hooks.example');
    expect(next.caPem).toBe(data.caPem);
  });

  test.each(['certPem', 'keyPem', 'caPem', 'caKeyPem'] as const)('replaces everything if %s is broken', (field) => {
    const data = renew(undefined, HOSTS, START);
    const stranger = renew(undefined, HOSTS, START);
    for (const broken of ['', 'nonsense', stranger[field]]) {
      const next = renew({ ...data, [field]: broken }, HOSTS, START + DAY);
      expect(isTrusted(next.certPem, next.caPem)).toBe(true);
      expect(next.certPem).not.toBe(data.certPem);
    }
  });

  test('over thirty years, shows only certificates that the bundles before and after each renewal trust', () => {
    let data = renew(undefined, HOSTS, START);
    const bundles = new Set<string>();
    for (let now = dueAt(data); now < START + 30 * 365 * DAY; now = dueAt(data)) {
      const next = renew(data, HOSTS, now);
      expect(next).not.toBe(data);
      expect(isTrusted(next.certPem, data.caPem)).toBe(true);
      expect(isTrusted(next.certPem, next.caPem)).toBe(true);
      expect(isTrusted(data.certPem, next.caPem)).toBe(true);
      expect(new X509Certificate(next.certPem).validToDate.getTime()).toBeGreaterThan(now + 25 * DAY);
      bundles.add(next.caPem);
      data = next;
    }
    // A new authority every 6.7 years; each old one is removed 3.3 years later.
    expect(bundles.size).toBeGreaterThanOrEqual(7);
    expect(authorities(data.caPem).length).toBeLessThanOrEqual(2);
  });
});

const running: ManagedCertificates[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((each) => each.stop()));
});

function managed(client: FakeApi, clock: FakeClock): ManagedCertificates {
  const certificates = new ManagedCertificates({
    client,
    clock,
    logger,
    namespace: 'offshoot',
    name: 'tls',
    hosts: HOSTS,
  });
  running.push(certificates);
  return certificates;
}

function stored(api: FakeApi): AnyObject {
  return api.all(Secret).get('offshoot/tls')!;
}

describe('a certificate in a Secret', () => {
  test('is shared by replicas that start at the same time', async () => {
    const api = new FakeApi();
    const replicas = [1, 2, 3].map(() => managed(api, new FakeClock()));
    await Promise.all(replicas.map((each) => each.start()));
    const shown = new Set(replicas.map((each) => each.serving().certPem));
    expect(shown.size).toBe(1);
    expect(api.writes).toHaveLength(1);
    expect(Object.keys(stored(api)['data'] as object).sort()).toEqual(['ca.crt', 'ca.key', 'tls.crt', 'tls.key']);
  });

  test('is kept by a restart, which writes nothing', async () => {
    const api = new FakeApi();
    const first = managed(api, new FakeClock());
    await first.start();
    await first.stop();
    const second = managed(api, new FakeClock());
    await second.start();
    expect(second.serving().certPem).toBe(first.serving().certPem);
    expect(api.writes).toHaveLength(1);
  });

  test('is renewed once when it is due, and every replica uses the new one', async () => {
    const api = new FakeApi();
    const clock = new FakeClock();
    const [one, two] = [managed(api, clock), managed(api, clock)];
    await Promise.all([one.start(), two.start()]);
    const before = one.serving().certPem;
    let changes = 0;
    one.onChange(() => changes++);
    two.onChange(() => changes++);
    await clock.advance(59 * DAY);
    expect(api.writes).toHaveLength(1);
    await clock.advance(1 * DAY);
    await until(() => one.serving().certPem !== before && two.serving().certPem === one.serving().certPem);
    expect(api.writes).toHaveLength(2);
    expect(changes).toBe(2);
    expect(one.bundle()).toBe(two.bundle());
  });

  test('is restored as it was when the Secret is deleted', async () => {
    const api = new FakeApi();
    const certificates = managed(api, new FakeClock());
    await certificates.start();
    const { data } = stored(api);
    await until(() => api.all(Secret).size === 1);
    await api.delete(Secret, { namespace: 'offshoot', name: 'tls' });
    await until(() => api.all(Secret).size === 1);
    expect(stored(api)['data']).toEqual(data);
  });

  test('delays the start, but does not fail it, on a server error', async () => {
    const api = new FakeApi();
    const clock = new FakeClock();
    let failures = 2;
    api.intercept = ({ verb }) => {
      if (verb === 'create' && failures-- > 0) throw new ApiError('later', { code: 503, reason: 'ServiceUnavailable' });
    };
    const certificates = managed(api, clock);
    const starting = certificates.start();
    await clock.advance(1_000);
    await starting;
    expect(stored(api)).toBeDefined();
  });

  test('fails the start with the message of a server that forbids Secrets', async () => {
    const api = new FakeApi();
    api.intercept = ({ verb }) => {
      if (verb === 'create') throw new ApiError('secrets is forbidden', { code: 403, reason: 'Forbidden' });
    };
    await expect(managed(api, new FakeClock()).start()).rejects.toThrow('secrets is forbidden');
  });
});

describe('a certificate in files', () => {
  function directory(): string {
    const made = mkdtempSync(path.join(tmpdir(), 'offshoot-certificates-'));
    onTestFinished(() => rmSync(made, { recursive: true }));
    return made;
  }

  function write(into: string, name: string): string {
    const pair = createAuthority({ commonName: 'ca', days: 1 }).issue({ commonName: name, days: 1, usage: 'server' });
    writeFileSync(path.join(into, 'tls.crt'), pair.certPem);
    writeFileSync(path.join(into, 'tls.key'), pair.keyPem);
    return pair.certPem;
  }

  test('is reloaded when the files change', async () => {
    const files = directory();
    const first = write(files, 'first');
    const certificates = new CertificateFiles({ directory: files, logger, everyMs: 5 });
    onTestFinished(() => certificates.stop());
    await certificates.start();
    expect(certificates.serving().certPem).toBe(first);
    const changed = new Promise<void>((resolve) => certificates.onChange(resolve));
    const second = write(files, 'second');
    await changed;
    expect(certificates.serving().certPem).toBe(second);
    expect(certificates.bundle()).toBeUndefined();
  });

  test('fails with an error that names a missing file or a key of another certificate', async () => {
    const files = directory();
    await expect(new CertificateFiles({ directory: files, logger }).start()).rejects.toThrow('tls.crt');
    write(files, 'one');
    writeFileSync(path.join(files, 'tls.key'), renew(undefined, HOSTS, START).keyPem);
    await expect(new CertificateFiles({ directory: files, logger }).start()).rejects.toThrow(
      `${files}: tls.crt and tls.key do not match`,
    );
  });
});
