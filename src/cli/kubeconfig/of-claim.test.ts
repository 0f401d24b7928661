import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { kubeconfigForClaim } from './of-claim.ts';

const authority = Buffer.from('-----CA-----\n').toString('base64');
const issued = (server: string): string => `
apiVersion: v1
kind: Config
current-context: default-context
contexts: [{name: default-context, context: {cluster: default-cluster, user: deployer, namespace: place}}]
clusters: [{name: default-cluster, cluster: {server: "${server}", certificate-authority-data: ${authority}}}]
users: [{name: deployer, user: {token: secret}}]
`;
const ours = { server: 'https://127.0.0.1:2222', caPem: '-----CA-----' };

test('context, cluster and user are named after the claim, so that they can be merged with other kubeconfigs', () => {
  expect(parse(kubeconfigForClaim(issued('https://api.example.com'), 'team/staging', ours))).toEqual({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'team/staging',
    contexts: [
      { name: 'team/staging', context: { cluster: 'team/staging', user: 'team/staging', namespace: 'place' } },
    ],
    clusters: [
      {
        name: 'team/staging',
        cluster: { server: 'https://api.example.com', 'certificate-authority-data': authority },
      },
    ],
    users: [{ name: 'team/staging', user: { token: 'secret' } }],
  });
});

test('a cluster that other contexts use too keeps its name', () => {
  const text = `
current-context: a
contexts: [{name: a, context: {cluster: c, user: u}}, {name: b, context: {cluster: c, user: v}}]
clusters: [{name: c, cluster: {server: "https://api.example.com"}}]
users: [{name: u, user: {token: s}}, {name: v, user: {token: t}}]`;
  const { contexts, clusters, users } = parse(kubeconfigForClaim(text, 'team/prod', ours)) as Record<string, unknown[]>;
  expect(contexts).toEqual([
    { name: 'team/prod', context: { cluster: 'c', user: 'team/prod' } },
    { name: 'b', context: { cluster: 'c', user: 'v' } },
  ]);
  expect(clusters).toMatchObject([{ name: 'c' }]);
  expect(users).toMatchObject([{ name: 'team/prod' }, { name: 'v' }]);
});

describe('the server address', () => {
  const serverOf = (server: string, from: Parameters<typeof kubeconfigForClaim>[2]): unknown =>
    (parse(kubeconfigForClaim(issued(server), 'n', from)) as { clusters: [{ cluster: { server: string } }] })
      .clusters[0].cluster.server;

  test('is replaced by ours for the same local cluster, which may have another port now', () => {
    expect(serverOf('https://127.0.0.1:1111', ours)).toBe('https://127.0.0.1:2222');
    expect(serverOf('https://localhost:1111', ours)).toBe('https://127.0.0.1:2222');
  });

  test.each<[string, string, Parameters<typeof kubeconfigForClaim>[2]]>([
    ['another cluster', 'https://127.0.0.1:1111', { ...ours, caPem: 'other' }],
    ['a connection without a CA', 'https://127.0.0.1:1111', { server: ours.server }],
    ['an address that is not loopback', 'https://api.example.com', ours],
    ['a server of ours that is not loopback', 'https://127.0.0.1:1111', { ...ours, server: 'https://10.0.0.1' }],
  ])('is kept for %s', (_what, server, from) => {
    expect(serverOf(server, from)).toBe(server);
  });
});

test.each(['', 'garbage', '[1]', 'a: [', 'current-context: a', 'current-context: a\ncontexts: [{name: b}, null]'])(
  'an invalid kubeconfig is returned unchanged: %j',
  (text) => expect(kubeconfigForClaim(text, 'n', ours)).toBe(text),
);
