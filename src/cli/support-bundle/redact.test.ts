import { describe, expect, test } from 'vitest';
import { redacted, REDACTED, redactedText } from './redact.ts';

const valueOf = (name: string, value: string): unknown => {
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'a' },
    spec: { containers: [{ env: [{ name, value }] }] },
  };
  return redacted(pod).spec.containers[0]!.env[0]!.value;
};

describe('the value of an environment variable', () => {
  test.each([
    ['DB_PASSWORD', 'a'],
    ['API_TOKEN', 'abc'],
    ['AWS_SECRET_ACCESS_KEY', 'abc'],
    ['OAUTH_CLIENT', 'abc'],
    ['apiKey', 'abc'],
    ['ANYTHING', 'aG93IGFyZSB5b3UgdG9kYXkgbXkgZnJpZW5kIDEyMzQ1'],
  ])('is redacted: %s=%s', (name, value) => expect(valueOf(name, value)).toBe(REDACTED));

  test.each([
    ['LOG_LEVEL', 'debug'],
    ['PORT', '8080'],
    ['REGION', 'eu-central-1'],
    ['FEATURE_FLAGS', 'new-checkout,old-cart'],
  ])('is kept: %s=%s', (name, value) => expect(valueOf(name, value)).toBe(value));

  test('that is a URL keeps everything except the password', () => {
    expect(valueOf('DATABASE', 'postgres://shop:hunter2@db:5432/shop')).toBe(
      `postgres://shop:${REDACTED}@db:5432/shop`,
    );
  });
});

test('redacted removes values of secret flags, last-applied manifests and managed fields', () => {
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: 'a',
      managedFields: [{ manager: 'x', operation: 'Apply' as const }],
      annotations: { 'kubectl.kubernetes.io/last-applied-configuration': '{"password":"x"}', team: 'shop' },
    },
    spec: { args: ['--db-password=hunter2', '--level=debug'] },
  };
  expect(redacted(pod)).toEqual({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'a', annotations: { team: 'shop' } },
    spec: { args: [`--db-password=${REDACTED}`, '--level=debug'] },
  });
});

test.each([
  ['DB_PASSWORD=hunter2 is set', `DB_PASSWORD=${REDACTED} is set`],
  ['password: "two words", user: shop', `password: "${REDACTED}", user: shop`],
  ['{"msg":"{\\"clientSecret\\":\\"hunter2\\"}"}', `{"msg":"{\\"clientSecret\\":\\"${REDACTED}\\"}"}`],
  ['{"name":"DB_PASS","value":"hunter2"}', `{"name":"DB_PASS","value":"${REDACTED}"}`],
  ['{"name":"LEVEL","value":"debug"}', '{"name":"LEVEL","value":"debug"}'],
  ['client-key-data: LS0tLS1CRUdJTiBQUklWQVRFIEtFWS0tLS0tCmFiYwo=', `client-key-data: ${REDACTED}`],
  ['key LS0tLS1CRUdJTiBSU0EgUFJJVkFURSBLRVktLS0tLQphYmMK', `key ${REDACTED}`],
  ['secretName: offshoot-tls', 'secretName: offshoot-tls'],
])('redactedText: %s', (text, shown) => expect(redactedText(text)).toBe(shown));

test('redacted removes the value of a flag in the next argument, and fields with secrets', () => {
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'a' },
    spec: { args: ['--db-password', 'hunter2', '--level', 'debug'], key: 'pr-7', auth: { token: 'abc' } },
  };
  expect(redacted(pod).spec).toEqual({
    args: ['--db-password', REDACTED, '--level', 'debug'],
    key: 'pr-7',
    auth: { token: REDACTED },
  });
});

test('redactedText is fast on a long line without secrets', () => {
  const line = 'a'.repeat(2_000_000);
  const start = performance.now();
  expect(redactedText(line)).toBe(line);
  expect(performance.now() - start).toBeLessThan(5_000);
});

test('redactedText removes tokens from logs and keeps the rest of the line', () => {
  const token = 'eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJrdWJlcm5ldGVzIn0.c2lnbmF0dXJl';
  expect(redactedText(`GET /api with Bearer ${token} failed`)).toBe(`GET /api with Bearer ${REDACTED} failed`);
  expect(redactedText('login with password=hunter2 as shop')).toBe(`login with password=${REDACTED} as shop`);
  expect(redactedText('-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY-----\nend')).toBe(
    `${REDACTED}\nend`,
  );
  const plain = '{"level":30,"msg":"leading","lease":"dynamic-environment-lock"}';
  expect(redactedText(plain)).toBe(plain);
});
