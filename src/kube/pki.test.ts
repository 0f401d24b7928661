import { execFileSync, spawnSync } from 'node:child_process';
import { createPrivateKey, generateKeyPairSync, X509Certificate } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import tls from 'node:tls';
import { expect, test } from 'vitest';
import { createAuthority, loadAuthority } from './pki.ts';
import type { CertificatePair } from './pki.ts';

const authority = createAuthority({ commonName: 'test authority', days: 10 });
const serving = authority.issue({
  commonName: 'server',
  dnsNames: ['localhost', 'kubernetes.default.svc'],
  ipAddresses: ['127.0.0.1', '::1', 'fd00:1::ffff:10.0.0.1'],
  days: 1,
  usage: 'server',
});

/** Does one TLS handshake; returns the client's subject as the server saw it, or why the server does not trust it. */
async function handshake(server: CertificatePair, ca: string, client?: CertificatePair): Promise<string> {
  const listener = tls.createServer({
    cert: server.certPem,
    key: server.keyPem,
    ca,
    requestCert: client !== undefined,
    rejectUnauthorized: false,
  });
  try {
    const seen = new Promise<string>((resolve, reject) => {
      listener.on('tlsClientError', reject);
      listener.on('secureConnection', (socket) => {
        // Node types it as an Error, and gives the code as a string.
        const refusal = client && (socket.authorizationError as unknown as string | null);
        socket.end('.');
        resolve(refusal ?? socket.getPeerX509Certificate()?.subject ?? '');
      });
    });
    await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
    const { port } = listener.address() as AddressInfo;
    const connected = new Promise<void>((resolve, reject) => {
      const socket = tls.connect({ host: '127.0.0.1', port, ca, cert: client?.certPem, key: client?.keyPem });
      socket.on('error', reject).on('end', resolve).resume();
    });
    const [subject] = await Promise.all([seen, connected]);
    return subject;
  } finally {
    listener.close();
  }
}

test('a serving certificate passes Node TLS and names its hosts and addresses', async () => {
  await expect(handshake(serving, authority.certPem)).resolves.toBe('');
  const certificate = new X509Certificate(serving.certPem);
  expect(certificate.subjectAltName).toBe(
    'DNS:localhost, DNS:kubernetes.default.svc, IP Address:127.0.0.1, IP Address:0:0:0:0:0:0:0:1, IP Address:FD00:1:0:0:0:FFFF:A00:1',
  );
  expect(certificate.checkHost('kubernetes.default.svc')).toBeDefined();
  expect(certificate.checkHost('elsewhere')).toBeUndefined();
  expect(certificate.checkIP('::1')).toBeDefined();
  expect(certificate.ca).toBe(false);
  expect(certificate.checkIssued(new X509Certificate(authority.certPem))).toBe(true);
  expect(certificate.keyUsage).toEqual(['1.3.6.1.5.5.7.3.1']);
});

test('a client certificate carries the user and its groups', async () => {
  const client = authority.issue({
    commonName: 'admin',
    organizations: ['system:masters', 'équipe'],
    days: 1,
    usage: 'client',
  });
  await expect(handshake(serving, authority.certPem, client)).resolves.toBe('O=system:masters\nO=équipe\nCN=admin');
});

test('a serving certificate is rejected as a client certificate', async () => {
  await expect(handshake(serving, authority.certPem, serving)).resolves.toBe('INVALID_PURPOSE');
});

test('another authority of the same name is not trusted', async () => {
  const other = createAuthority({ commonName: 'test authority', days: 10 });
  await expect(handshake(serving, other.certPem)).rejects.toThrow(/certificate|unable to verify|signature/i);
});

test('certificates are valid from an hour earlier, and no longer than their authority', () => {
  const certificate = new X509Certificate(authority.issue({ commonName: 'long', days: 4000, usage: 'both' }).certPem);
  const end = new X509Certificate(authority.certPem).validToDate.getTime();
  expect(certificate.validToDate.getTime()).toBe(end);
  const age = Date.now() - certificate.validFromDate.getTime();
  expect(age).toBeGreaterThan(3_590_000);
  expect(age).toBeLessThan(3_700_000);
});

test('an authority may be valid beyond 2049, where the encoding of times changes', () => {
  const far = createAuthority({ commonName: 'far', days: 365 * 40 });
  expect(new X509Certificate(far.certPem).validToDate.getUTCFullYear()).toBeGreaterThan(2060);
});

test('serial numbers are positive and differ', () => {
  const serials = Array.from(
    { length: 20 },
    () => new X509Certificate(authority.issue({ commonName: 'x', days: 1, usage: 'both' }).certPem).serialNumber,
  );
  expect(new Set(serials).size).toBe(20);
  expect(serials.every((serial) => /^[4-7][0-9A-F]{31}$/.test(serial))).toBe(true);
});

test('a saved authority can be loaded and sign again', async () => {
  const loaded = loadAuthority({ certPem: authority.certPem, keyPem: authority.keyPem });
  const late = loaded.issue({ commonName: 'late', ipAddresses: ['127.0.0.1'], days: 1, usage: 'server' });
  await expect(handshake(late, authority.certPem)).resolves.toBe('');
});

test.each([
  [{ certPem: 'nonsense', keyPem: authority.keyPem }, /certPem cannot be read/],
  [{ certPem: authority.certPem, keyPem: 'nonsense' }, /keyPem cannot be read/],
  [{ certPem: serving.certPem, keyPem: serving.keyPem }, /certPem \(CN=server\) is not a CA certificate/],
  [{ certPem: authority.certPem, keyPem: serving.keyPem }, /keyPem is not the key of certPem/],
  [{ certPem: authority.certPem, keyPem: ed25519() }, /keyPem must be an EC P-256 key, found ed25519/],
])('an invalid saved authority is rejected: %#', (saved, message) => {
  expect(() => loadAuthority(saved)).toThrow(message);
});

test.each([
  [{ commonName: '', days: 1, usage: 'both' as const }, /commonName must not be empty/],
  [{ commonName: 'x', days: 0, usage: 'both' as const }, /days must be more than 0, found 0/],
  [{ commonName: 'x', days: 1, usage: 'both' as const, ipAddresses: ['300.1.1.1'] }, /found '300.1.1.1'/],
  [{ commonName: 'x', days: 1, usage: 'both' as const, dnsNames: ['bücher.example'] }, /found 'bücher.example'/],
])('an invalid certificate request is rejected: %#', (request, message) => {
  expect(() => authority.issue(request)).toThrow(message);
});

const openssl = 'openssl';

test.skipIf(spawnSync(openssl, ['version']).status !== 0)('openssl verifies the chain, strictly', () => {
  const directory = mkdtempSync(join(tmpdir(), 'pki-'));
  try {
    const ca = join(directory, 'ca.pem');
    const leaf = join(directory, 'leaf.pem');
    writeFileSync(ca, authority.certPem);
    writeFileSync(leaf, serving.certPem);
    const verified = execFileSync(openssl, ['verify', '-x509_strict', '-purpose', 'sslserver', '-CAfile', ca, leaf]);
    expect(verified.toString()).toMatch(/leaf\.pem: OK/);
  } finally {
    rmSync(directory, { recursive: true });
  }
});

test('the key of a certificate is an ordinary PKCS#8 key', () => {
  expect(new X509Certificate(serving.certPem).checkPrivateKey(createPrivateKey(serving.keyPem))).toBe(true);
  expect(serving.keyPem).toMatch(/^-----BEGIN PRIVATE KEY-----/);
});

function ed25519(): string {
  return generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
}
