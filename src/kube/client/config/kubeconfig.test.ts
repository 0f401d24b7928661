import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { inClusterConfig } from './in-cluster.ts';
import { contextConfig, loadConfig, readKubeconfig } from './kubeconfig.ts';
import { createAuthority } from '../../pki.ts';

const authority = createAuthority({ commonName: 'cluster', days: 1 });
const pair = authority.issue({ commonName: 'jane', days: 1, usage: 'client' });
const base64 = (text: string): string => Buffer.from(text).toString('base64');

let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'kubeconfig-'));
});

afterEach(() => {
  rmSync(directory, { recursive: true });
});

function write(name: string, text: string): string {
  const path = join(directory, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  return path;
}

/** A kubeconfig with one context, `dev`; fields of its cluster and user are given as YAML flow mappings. */
function oneContext({ cluster = '{server: https://api:6443}', user = '{}', extra = '' } = {}): string {
  return `
apiVersion: v1
kind: Config
current-context: dev
clusters: [{name: main, cluster: ${cluster}}]
users: [{name: jane, user: ${user}}]
contexts: [{name: dev, context: {cluster: main, user: jane, namespace: shop}}]
${extra}`;
}

function load(text: string, context?: string): ReturnType<typeof loadConfig> {
  const path = write('config', text);
  return loadConfig({ path, env: {}, ...(context === undefined ? {} : { context }) });
}

test('a kubeconfig may have certificates as data, and all fields of a cluster are read', () => {
  const config = load(
    oneContext({
      cluster: `{server: 'https://api:6443/prefix', certificate-authority-data: ${base64(authority.certPem)}, tls-server-name: other, proxy-url: 'http://proxy:3128'}`,
      user: `{client-certificate-data: ${base64(pair.certPem)}, client-key-data: ${base64(pair.keyPem)}}`,
    }),
  );
  expect(config).toEqual({
    server: 'https://api:6443/prefix',
    namespace: 'shop',
    caPem: authority.certPem,
    tlsServerName: 'other',
    proxyUrl: 'http://proxy:3128',
    certPem: pair.certPem,
    keyPem: pair.keyPem,
  });
});

test('file names are relative to the kubeconfig file', () => {
  write('nested/pki/ca.pem', authority.certPem);
  write('nested/client.pem', pair.certPem);
  write('nested/client.key', pair.keyPem);
  const path = write(
    'nested/config',
    oneContext({
      cluster: '{server: https://api, certificate-authority: pki/ca.pem}',
      user: '{client-certificate: client.pem, client-key: ./client.key, tokenFile: token, exec: {apiVersion: client.authentication.k8s.io/v1, command: ./bin/login}}',
    }),
  );
  expect(loadConfig({ path, env: {} })).toMatchObject({
    caPem: authority.certPem,
    certPem: pair.certPem,
    keyPem: pair.keyPem,
    tokenFile: join(directory, 'nested/token'),
    exec: { command: join(directory, 'nested/bin/login'), args: [], env: {}, interactiveMode: 'IfAvailable' },
  });
});

test('tokens, basic auth, insecure-skip-tls-verify and impersonation are read', () => {
  expect(
    load(oneContext({ cluster: '{server: https://api, insecure-skip-tls-verify: true}', user: '{token: secret}' })),
  ).toEqual({
    server: 'https://api',
    namespace: 'shop',
    insecureSkipTlsVerify: true,
    token: 'secret',
  });
  const user =
    '{username: jane, password: pw, as: bob, as-uid: "7", as-groups: [dev, ops], as-user-extra: {scopes: [a, b]}}';
  expect(load(oneContext({ user }))).toMatchObject({
    username: 'jane',
    password: 'pw',
    impersonate: { user: 'bob', uid: '7', groups: ['dev', 'ops'], extra: { scopes: ['a', 'b'] } },
  });
});

test('an exec plugin is read with all its fields', () => {
  const user = `{exec: {apiVersion: client.authentication.k8s.io/v1beta1, command: login, args: [get, token], env: [{name: REGION, value: x}], installHint: "Get it.\\n", interactiveMode: Never, provideClusterInfo: true}}`;
  expect(load(oneContext({ user })).exec).toEqual({
    apiVersion: 'client.authentication.k8s.io/v1beta1',
    command: 'login',
    args: ['get', 'token'],
    env: { REGION: 'x' },
    installHint: 'Get it.',
    interactiveMode: 'Never',
    cluster: { server: 'https://api:6443' },
  });
});

test('several files are merged; the first with an entry wins; missing files are skipped', () => {
  const first = write(
    'a',
    'contexts: [{name: one, context: {cluster: c, user: u}}]\nclusters: [{name: c, cluster: {server: https://first}}]',
  );
  const second = write(
    'b',
    `current-context: one
clusters: [{name: c, cluster: {server: https://second}}]
users: [{name: u, user: {token: t}}]
contexts: [{name: two, context: {cluster: c}}]`,
  );
  const env = { KUBECONFIG: [first, '', join(directory, 'missing'), second].join(delimiter) };
  const kubeconfig = readKubeconfig({ env });
  expect(kubeconfig.files).toEqual([first, second]);
  expect([...kubeconfig.contexts.keys()]).toEqual(['one', 'two']);
  expect(contextConfig(kubeconfig)).toEqual({ server: 'https://first', token: 't' });
  expect(contextConfig(kubeconfig, 'two')).toEqual({ server: 'https://first' });
});

test('without KUBECONFIG, ~/.kube/config is read, which may be JSON', () => {
  const path = write(
    '.kube/config',
    '{"current-context":"x","clusters":[{"name":"c","cluster":{"server":"http://h"}}],"contexts":[{"name":"x","context":{"cluster":"c"}}]}',
  );
  expect(readKubeconfig({ env: { HOME: directory } }).files).toEqual([path]);
  expect(loadConfig({ env: { HOME: directory } })).toEqual({ server: 'http://h' });
});

test.each([
  ['not YAML', '{', /kubeconfig \/.*config: /],
  ['not a mapping', '- 1', /config: the file must be a mapping, found a list/],
  ['an empty file', '', /there is no current-context; name one of \(none\)/],
  ['clusters not a list', 'clusters: {}', /config: clusters: must be a list, found a mapping/],
  ['a nameless cluster', 'clusters: [{cluster: {}}]', /config: clusters\[0\].name: is missing/],
  ['no server', oneContext({ cluster: '{}' }), /config: clusters\[main\].cluster.server: is missing/],
  [
    'a bad server',
    oneContext({ cluster: '{server: "api:6443"}' }),
    /cluster.server: must be an http or https URL, found 'api:6443'/,
  ],
  [
    'a socks proxy',
    oneContext({ cluster: '{server: https://a, proxy-url: "socks5://p"}' }),
    /proxy-url: must be an http or https URL, found 'socks5:/,
  ],
  [
    'a token that is a number',
    oneContext({ user: '{token: 12345}' }),
    /users\[jane\].user.token: must be a string, found a number/,
  ],
  [
    'a key without certificate',
    oneContext({ user: `{client-key-data: ${base64(pair.keyPem)}}` }),
    /user.client-certificate: is missing, and client-key is there/,
  ],
  [
    'a certificate without key',
    oneContext({ user: `{client-certificate-data: ${base64(pair.certPem)}}` }),
    /user.client-key: is missing/,
  ],
  [
    'a certificate file that is missing',
    oneContext({ cluster: '{server: https://a, certificate-authority: nowhere.pem}' }),
    /cluster.certificate-authority: ENOENT.*nowhere.pem/,
  ],
  [
    'data that is not base64',
    oneContext({ cluster: '{server: https://a, certificate-authority-data: "***"}' }),
    /certificate-authority-data: is not base64/,
  ],
  [
    'data that is not a certificate',
    oneContext({ cluster: '{server: https://a, certificate-authority-data: aGVsbG8=}' }),
    /certificate-authority: is not a certificate in PEM/,
  ],
  [
    'the key of another',
    oneContext({
      user: `{client-certificate-data: ${base64(pair.certPem)}, client-key-data: ${base64(authority.keyPem)}}`,
    }),
    /client-key: is not the key of client-certificate/,
  ],
  [
    'trust and no trust',
    oneContext({
      cluster: `{server: https://a, insecure-skip-tls-verify: true, certificate-authority-data: ${base64(authority.certPem)}}`,
    }),
    /insecure-skip-tls-verify: cannot be combined/,
  ],
  [
    'a flag that is a word',
    oneContext({ cluster: '{server: https://a, insecure-skip-tls-verify: "yes"}' }),
    /must be true or false, found a string/,
  ],
  ['groups of nobody', oneContext({ user: '{as-groups: [a]}' }), /user.as: is missing/],
  [
    'an old plugin',
    oneContext({ user: '{exec: {apiVersion: client.authentication.k8s.io/v1alpha1, command: x}}' }),
    /exec.apiVersion: must be one of .*found 'client.authentication.k8s.io\/v1alpha1'/,
  ],
  [
    'a plugin without command',
    oneContext({ user: '{exec: {apiVersion: client.authentication.k8s.io/v1}}' }),
    /exec.command: is missing/,
  ],
  [
    'a removed provider',
    oneContext({ user: '{auth-provider: {name: gcp}}' }),
    /auth-provider: was removed from Kubernetes in 1.26; use an exec plugin/,
  ],
])('%s is rejected, and the error names the file and the field', (_what, text, message) => {
  expect(() => load(text)).toThrow(message);
});

test('the error for an unknown context, cluster or user lists the known ones', () => {
  expect(() => load(oneContext(), 'prod')).toThrow(/there is no context 'prod'; known: dev/);
  expect(() => load('current-context: a\ncontexts: [{name: a, context: {cluster: x}}]')).toThrow(
    /contexts\[a\].context.cluster: there is no cluster 'x'; known: \(none\)/,
  );
  const user =
    'current-context: a\ncontexts: [{name: a, context: {cluster: c, user: x}}]\nclusters: [{name: c, cluster: {server: https://a}}]';
  expect(() => load(user)).toThrow(/contexts\[a\].context.user: there is no user 'x'/);
});

test('an error never contains a secret', () => {
  expect(() => load(oneContext({ user: '{token: [hush]}' }))).toThrow(/^((?!hush).)*$/s);
});

test('a file named by --kubeconfig must exist', () => {
  expect(() => loadConfig({ path: join(directory, 'missing'), env: {} })).toThrow(
    /kubeconfig .*missing: the file does not exist/,
  );
});

test('the error without any configuration says what to do', () => {
  expect(() => loadConfig({ env: { HOME: directory } })).toThrow(
    /no cluster configured: .*\.kube\/config does not exist .* set KUBECONFIG/,
  );
});

test('in a pod, the service account is used', () => {
  write('token', 'secret\n');
  write('ca.crt', authority.certPem);
  write('namespace', 'shop\n');
  const env = { KUBERNETES_SERVICE_HOST: '10.0.0.1', KUBERNETES_SERVICE_PORT: '443' };
  const wanted = {
    server: 'https://10.0.0.1:443',
    tokenFile: join(directory, 'token'),
    namespace: 'shop',
    caPem: authority.certPem,
  };
  expect(inClusterConfig({ env, directory })).toEqual(wanted);
  expect(inClusterConfig({ env: { ...env, KUBERNETES_SERVICE_HOST: 'fd00::1' }, directory })?.server).toBe(
    'https://[fd00::1]:443',
  );
  expect(inClusterConfig({ env: {}, directory })).toBeUndefined();
  rmSync(join(directory, 'token'));
  expect(inClusterConfig({ env, directory })).toBeUndefined();
});
