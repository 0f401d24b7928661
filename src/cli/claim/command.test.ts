// Runs the commands for claims and targets as processes with piped output, against a cluster with the controllers.
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { until } from '../../../test/support/until.ts';
import { SpaceRequest } from '../../api/spaces.ts';
import { DeploymentTarget, DeploymentTargetClaim } from '../../api/targets.ts';
import { connect } from '../../kube/client/connect.ts';
import { isForbidden } from '../../kube/errors.ts';
import { loadConfig } from '../../kube/client/config/kubeconfig.ts';
import { defineKind } from '../../kube/objects.ts';
import { Namespace, Role, RoleBinding, Secret, ServiceAccount } from '../../targets/objects.ts';
import { openTeam } from '../testing/team.ts';
import type { Team } from '../testing/team.ts';

const Definition = defineKind('apiextensions.k8s.io/v1', 'CustomResourceDefinition', 'customresourcedefinitions', {
  namespaced: false,
});
const ConfigMap = defineKind('v1', 'ConfigMap', 'configmaps');

let team: Team;
beforeAll(async () => {
  team = await openTeam();
  await Promise.all([
    team.addClass('sandbox', 'appstudio.redhat.com/devsandbox'),
    team.addClass('local', 'offshoot.dev/namespace'),
    team.addClass('kept', 'offshoot.dev/namespace', 'Retain'),
    team.addClass('cloud', 'example.com/cloud'),
  ]);
});
afterAll(() => team.stop());

async function claimNames(): Promise<string[]> {
  return (await team.client.list(DeploymentTargetClaim, { namespace: 'team' })).items.map(
    ({ metadata }) => metadata.name,
  );
}

async function targetNames(): Promise<string[]> {
  return (await team.client.list(DeploymentTarget, { namespace: 'team' })).items.map(({ metadata }) => metadata.name);
}

/** The last progress line of each part: how many lines come before depends on the speed of the controllers. */
function lastProgress(stderr: string): Record<string, string> {
  const words = stderr
    .trimEnd()
    .split('\n')
    .map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)]);
  return Object.fromEntries(words) as Record<string, string>;
}

/** Replaces what differs from run to run. */
function normalized(text: string): string {
  return text
    .replaceAll(/https:\/\/127\.0\.0\.1:\d+/g, 'SERVER')
    .replaceAll(/(staging|offshoot)-[0-9a-f]{5}/g, '$1-ID')
    .replaceAll(/ID-[0-9a-f]{5}/g, 'ID-ID')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:]+Z/g, 'TIME')
    .replaceAll(/\b\d+s\b/g, 'Ns');
}

/** A client for a printed kubeconfig, and its namespace. */
function clientFor(name: string, text: string) {
  const file = path.join(team.dir, name);
  writeFileSync(file, text);
  const config = loadConfig({ path: file });
  return { client: connect(config), namespace: config.namespace };
}

test('a target created by hand can be claimed, used and released', { timeout: 60_000 }, async () => {
  await team.createTarget('ours');
  await until(async () => (await team.run('target', 'list')).stdout.includes('Available'), 20_000);
  const listed = (await team.run('target', 'list', '-A', '-o', 'wide')).stdout.trimEnd().split('\n');
  expect(listed.map((line) => normalized(line).split(/ {3,}/))).toEqual([
    ['NAMESPACE', 'NAME', 'PHASE', 'CLASS', 'CLAIM', 'PLACE', 'AGE', 'SERVER', 'SECRET', 'MADE BY'],
    ['team', 'ours', 'Available', '<none>', '<none>', 'team', 'Ns', 'SERVER', 'ours-credentials', '<none>'],
  ]);

  const created = await team.run('claim', 'create', 'prod', '--target', 'ours', '--wait');
  expect(created).toMatchObject({ code: 0, stdout: 'deploymenttargetclaim.appstudio.redhat.com/prod created\n' });
  expect(lastProgress(created.stderr)).toEqual({
    Claim: 'accepted',
    Target: 'bound (DeploymentTarget ours)',
    Bound: 'to ours',
  });
  expect((await team.run('claim', 'list')).stdout).toMatch(/^prod +Bound +<none> +ours +\d+s$/m);

  const [target, described, kubeconfig] = await Promise.all([
    team.run('target', 'describe', 'ours'),
    team.run('claim', 'describe', 'prod', '-o', 'yaml'),
    team.run('claim', 'kubeconfig', 'prod'),
  ]);
  expect(normalized(target.stdout.split('\n\n')[0]!)).toBe(
    `
Target team/ours  Bound  namespace team at SERVER
├─ Claim team/prod  Bound  no class
└─ Secret team/ours-credentials  present`.trimStart(),
  );
  expect(parse(described.stdout)).toMatchObject({
    claim: { kind: 'Claim', name: 'team/prod', state: 'Bound', children: [{ kind: 'Target', name: 'team/ours' }] },
    events: expect.arrayContaining([expect.objectContaining({ reason: 'Bound' })]),
  });
  expect(kubeconfig).toMatchObject({ code: 0, stderr: '' });
  const { client } = clientFor('prod', kubeconfig.stdout);
  expect((await client.list(DeploymentTargetClaim, { namespace: 'team' })).items).toHaveLength(1);
  client.close();

  const again = await team.run('claim', 'create', 'prod', '--class', '', '-o', 'name', '--wait');
  expect(again).toMatchObject({ code: 0, stdout: 'deploymenttargetclaim.appstudio.redhat.com/prod\n' });
  const deleted = await team.run('claim', 'delete', 'prod');
  expect(deleted).toEqual({
    code: 0,
    stdout: 'deploymenttargetclaim.appstudio.redhat.com/prod deleted\n',
    stderr: 'keeping: Target team/ours\nClaim team/prod: deleting\nClaim team/prod: deleted\n',
  });
  const gone = await team.run('claim', 'delete', 'prod', '--ignore-not-found');
  expect(gone).toEqual({ code: 0, stdout: '', stderr: '' });
  expect([await claimNames(), await targetNames()]).toEqual([[], ['ours']]);
  expect((await team.run('target', 'describe', 'ours')).stdout).toContain('make-available=true');
});

test(
  'a sandbox is created on demand, described down to its Secret, usable in its namespace only, and deleted with its claim',
  { timeout: 60_000 },
  async () => {
    const created = await team.run('claim', 'create', 'staging', '--class', 'sandbox', '--ttl', '2d', '--wait');
    expect(created).toMatchObject({ code: 0, stdout: 'deploymenttargetclaim.appstudio.redhat.com/staging created\n' });
    expect(lastProgress(normalized(created.stderr))).toEqual({
      Claim: 'accepted',
      'Space request': 'ready (SpaceRequest staging-ID)',
      Namespace: 'made (Namespace offshoot-ID-env)',
      Target: 'bound (DeploymentTarget staging-dt)',
      Bound: 'to staging-dt',
    });

    // The expiry is written after the claim is bound.
    const tree = async (): Promise<string> => (await team.run('claim', 'describe', 'staging')).stdout;
    await until(async () => (await tree()).includes('expires'), 20_000);
    const [described] = (await tree()).split('\n\n');
    expect(normalized(described!)).toBe(
      `
Claim team/staging  Bound  class sandbox, expires TIME
└─ Target team/staging-dt  Bound  namespace offshoot-ID-env at SERVER
   └─ SpaceRequest team/staging-ID  Provisioned  tier appstudio-env
      └─ Namespace offshoot-ID-env  Active
         └─ Secret team/staging-ID-ID  present  token until TIME`.trimStart(),
    );

    const { stdout } = await team.run('claim', 'kubeconfig', 'staging');
    const { client, namespace } = clientFor('staging', stdout);
    const { spec } = await team.client.get(DeploymentTarget, { name: 'staging-dt', namespace: 'team' });
    expect(namespace).toBe(spec.kubernetesCredentials.defaultNamespace);
    const map = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'deployed', namespace } };
    await expect(client.create(ConfigMap, map)).resolves.toMatchObject({ metadata: { name: 'deployed' } });
    const elsewhere = client.create(ConfigMap, { ...map, metadata: { name: 'deployed', namespace: 'team' } });
    await expect(elsewhere).rejects.toSatisfy(isForbidden);
    client.close();

    const deleted = await team.run('claim', 'delete', 'staging');
    expect(deleted).toMatchObject({ code: 0, stdout: 'deploymenttargetclaim.appstudio.redhat.com/staging deleted\n' });
    expect(lastProgress(normalized(deleted.stderr))).toEqual({
      'Namespace offshoot-ID-env': 'deleted',
      'SpaceRequest team/staging-ID': 'deleted',
      'Target team/staging-dt': 'deleted',
      'Claim team/staging': 'deleted',
    });
    expect([await claimNames(), await targetNames()]).toEqual([[], ['ours']]);
    expect((await team.client.list(SpaceRequest, { namespace: 'team' })).items).toEqual([]);
  },
);

test(
  'deleting a claim deletes or retains its namespace, by the reclaim policy of the class',
  { timeout: 60_000 },
  async () => {
    const created = await Promise.all([
      team.run('claim', 'create', 'freed', '--class', 'local', '--wait'),
      team.run('claim', 'create', 'held', '--class', 'kept', '--wait'),
    ]);
    expect(created.map(({ code }) => code)).toEqual([0, 0]);
    expect(lastProgress(created[0].stderr)).toMatchObject({
      Namespace: expect.stringMatching(/^made \(Namespace team-freed-/),
    });
    const deleted = await team.run('claim', 'delete', 'freed', 'held');
    expect(deleted.code).toBe(0);
    expect(deleted.stderr).toContain('keeping: Target team/held-dt\n');
    expect(deleted.stderr).toContain('Target team/freed-dt: deleted\n');
    expect([await claimNames(), (await targetNames()).sort()]).toEqual([[], ['held-dt', 'ours']]);
  },
);

test('all commands report that the namespace of a claim was deleted', { timeout: 60_000 }, async () => {
  await team.run('claim', 'create', 'doomed', '--class', 'local', '--wait');
  const { targetName } = (await team.client.get(DeploymentTargetClaim, { name: 'doomed', namespace: 'team' })).spec;
  const target = await team.client.get(DeploymentTarget, { name: targetName!, namespace: 'team' });
  const name = target.spec.kubernetesCredentials.defaultNamespace;
  await team.client.delete(Namespace, { name });
  const listed = async (): Promise<string> => (await team.run('claim', 'list', '-o', 'wide')).stdout;
  await until(async () => /doomed +Bound .*NamespaceNotFound/.test(await listed()), 20_000);
  const { code, stderr } = await team.run('claim', 'kubeconfig', 'doomed');
  expect(code).toBe(0);
  expect(stderr).toMatch(/^warning: claim team\/doomed: NamespaceNotFound: /);
  expect(await team.run('status')).toMatchObject({
    code: 1,
    stdout: expect.stringContaining('warning: claim team/doomed: NamespaceNotFound: '),
  });
  await until(async () => (await team.client.list(Namespace)).items.every(({ metadata }) => metadata.name !== name));
  await team.client.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  const deleted = await team.run('claim', 'delete', 'doomed');
  expect([deleted.code, Object.keys(lastProgress(deleted.stderr))]).toEqual([
    0,
    ['Target team/doomed-dt', 'Claim team/doomed'],
  ]);
  expect((await team.client.get(Namespace, { name })).metadata.deletionTimestamp).toBeUndefined();
});

test(
  'delete does not ask to check controllers when the contents of a namespace keep it',
  { timeout: 60_000 },
  async () => {
    await team.run('claim', 'create', 'full', '--class', 'local', '--wait');
    const { targetName } = (await team.client.get(DeploymentTargetClaim, { name: 'full', namespace: 'team' })).spec;
    const target = await team.client.get(DeploymentTarget, { name: targetName!, namespace: 'team' });
    const namespace = target.spec.kubernetesCredentials.defaultNamespace;
    const metadata = { name: 'held', namespace, finalizers: ['theirs.dev/last'] };
    await team.client.create(ConfigMap, { apiVersion: 'v1', kind: 'ConfigMap', metadata });
    const { code, stderr } = await team.run('claim', 'delete', 'full', '--timeout', '5s');
    expect(code).toBe(3);
    expect(stderr).toContain(`Namespace ${namespace}: SomeFinalizersRemain: `);
    expect(stderr).not.toContain('check that');
    // They still are asked for if nobody says why another claim exists.
    const other = { name: 'silent', namespace: 'team' };
    await team.run('claim', 'create', 'silent', '--class', 'cloud');
    const finalizers = (names: readonly string[] | null) =>
      team.client.patch(DeploymentTargetClaim, other, { type: 'merge', body: { metadata: { finalizers: names } } });
    await finalizers(['theirs.dev/last']);
    const both = await team.run('claim', 'delete', 'full', 'silent', '--timeout', '5s');
    expect(both.stderr).toContain('check that');
    await finalizers(null);
    await team.client.patch(ConfigMap, metadata, { type: 'merge', body: { metadata: { finalizers: null } } });
    await until(async () => !(await claimNames()).includes('full'));
  },
);

test(
  'claim kubeconfig says that the space of a claim is gone, instead of asking for its Secret',
  { timeout: 60_000 },
  async () => {
    await team.run('claim', 'create', 'bereft', '--class', 'sandbox', '--wait');
    const ofClaim = { namespace: 'team', labelSelector: 'appstudio.openshift.io/dtc=bereft' };
    const [made] = (await team.client.list(SpaceRequest, ofClaim)).items;
    await team.client.delete(SpaceRequest, made!.metadata);
    const printed = async (): Promise<string> => (await team.run('claim', 'kubeconfig', 'bereft')).stderr;
    await until(async () => (await printed()).includes("can't be used"), 20_000);
    expect(await printed()).toMatch(
      /^error: claim team\/bereft can't be used: SpaceRequestNotFound: .*: delete the claim and create another\n/,
    );
    expect(await team.run('claim', 'delete', 'bereft')).toMatchObject({ code: 0 });
  },
);

test('create --wait ends with exit code 3 and the reasons after the timeout', { timeout: 60_000 }, async () => {
  const { code, stderr } = await team.run('claim', 'create', 'never', '--class', 'cloud', '--wait', '--timeout', '1s');
  expect(code).toBe(3);
  expect(stderr).toContain(
    'error: claim team/never is not bound after 1s\n  Claim team/never: waits for provisioner example.com/cloud\n',
  );
  const unbound = await team.run('claim', 'kubeconfig', 'never');
  expect(unbound).toEqual({
    code: 1,
    stdout: '',
    stderr:
      'error: claim team/never is not bound but Pending; "offshoot claim describe never -n team" shows why\ncode: NotReady, see "offshoot errors NotReady"\n',
  });
  expect(await team.run('claim', 'delete', 'never')).toMatchObject({ code: 0 });
});

test('claim kubeconfig says what is missing if there is no kubeconfig', { timeout: 60_000 }, async () => {
  await team.createTarget('bare', { secret: 'none' });
  await until(async () => (await team.run('target', 'describe', 'bare')).stdout.includes('bare  Available'), 20_000);
  const waited = await team.run('claim', 'create', 'bare', '--target', 'bare', '--wait', '--timeout', '3s');
  expect(waited).toMatchObject({
    code: 3,
    stderr: expect.stringContaining('no Secret with this name exists') as string,
  });
  expect((await team.run('claim', 'list', '-o', 'wide')).stdout).toContain(
    'SecretNotFound: the Secret bare-credentials',
  );
  const without = await team.run('claim', 'kubeconfig', 'bare');
  expect(without).toMatchObject({ code: 1, stdout: '' });
  expect(without.stderr).toBe(
    'error: there is no Secret team/bare-credentials, which target team/bare names: make it, with a key kubeconfig\ncode: NoCredentials, see "offshoot errors NoCredentials"\n',
  );
  const described = (await team.run('claim', 'describe', 'bare')).stdout;
  expect(described).toContain('! no Secret with this name exists');
  expect(described).not.toContain('claim kubeconfig');
  expect((await team.run('status')).stdout).toContain('warning: target team/bare: SecretNotFound: ');
  const metadata = { name: 'bare-credentials', namespace: 'team' };
  await team.client.create(Secret, { apiVersion: 'v1', kind: 'Secret', metadata, data: { token: 'eA==' } });
  expect((await team.run('claim', 'kubeconfig', 'bare')).stderr).toBe(
    'error: Secret team/bare-credentials of target team/bare has nothing under the key kubeconfig; it has token\ncode: NoCredentials, see "offshoot errors NoCredentials"\n',
  );
  expect(await team.run('claim', 'delete', 'bare', '--no-wait')).toMatchObject({
    code: 0,
    stderr: 'keeping: Target team/bare\ndeleting: Claim team/bare\n',
  });
  await until(async () => (await claimNames()).length === 0, 20_000);
});

test('objects that the user may not read are shown as hidden, not missing', { timeout: 60_000 }, async () => {
  const viewer = await viewerOfClaims();
  expect(await team.run('claim', 'create', 'shown', '--class', 'sandbox', '--wait')).toMatchObject({ code: 0 });
  const { stdout, stderr } = await team.run('claim', 'describe', 'shown', '--kubeconfig', viewer);
  expect(stderr).toBe('');
  expect(stdout).toMatch(/Namespace offshoot-\S+ {2}hidden {2}not visible to you/);
  expect(stdout).toMatch(/Secret team\/shown-\S+ {2}hidden {2}not visible to you/);
  const refused = await team.run('claim', 'kubeconfig', 'shown', '--kubeconfig', viewer);
  expect(refused).toMatchObject({ code: 1, stdout: '' });
  expect(refused.stderr).toMatch(/^error: you may not read Secret team\/shown-\S+, which has the kubeconfig/);
  expect(await team.run('claim', 'delete', 'shown')).toMatchObject({ code: 0 });
});

/** The kubeconfig file of a service account that may read claims, targets and space requests, and nothing else. */
async function viewerOfClaims(): Promise<string> {
  const metadata = { name: 'viewer', namespace: 'team' };
  const rbac = 'rbac.authorization.k8s.io';
  const apiGroups = ['appstudio.redhat.com', 'toolchain.dev.openshift.com'];
  await team.client.create(ServiceAccount, { apiVersion: 'v1', kind: 'ServiceAccount', metadata });
  await team.client.create(Role, {
    apiVersion: `${rbac}/v1`,
    kind: 'Role',
    metadata,
    rules: [{ apiGroups, resources: ['*'], verbs: ['get', 'list', 'watch'] }],
  });
  await team.client.create(RoleBinding, {
    apiVersion: `${rbac}/v1`,
    kind: 'RoleBinding',
    metadata,
    subjects: [{ kind: 'ServiceAccount', ...metadata }],
    roleRef: { apiGroup: rbac, kind: 'Role', name: 'viewer' },
  });
  const { status } = await team.client.raw<{ status: { token: string } }>({
    method: 'POST',
    path: '/api/v1/namespaces/team/serviceaccounts/viewer/token',
    body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} },
  });
  const admin = parse(readFileSync(path.join(team.dir, 'kubeconfig'), 'utf8')) as { users: [{ user: unknown }] };
  admin.users[0].user = { token: status.token };
  const file = path.join(team.dir, 'viewer');
  writeFileSync(file, stringify(admin));
  return file;
}

test('create --dry-run=client prints a manifest without a cluster', async () => {
  const requested = ['--requested-namespace', 'web', '--selector', 'tier=web'];
  const flags = ['--class', 'sandbox', '--ttl', '90m', ...requested, '--dry-run=client', '-o', 'yaml'];
  expect(await team.run('claim', 'create', 'later', ...flags)).toEqual({
    code: 0,
    stderr: '',
    stdout: `
apiVersion: appstudio.redhat.com/v1alpha1
kind: DeploymentTargetClaim
metadata:
  name: later
  namespace: team
  annotations:
    dt.appstudio.redhat.com/requested-namespace: web
    dt.appstudio.redhat.com/selector: tier=web
spec:
  deploymentTargetClassName: sandbox
  ttl: 90m
`.trimStart(),
  });
});

test('an invalid command fails with the reason and changes nothing', { timeout: 60_000 }, async () => {
  await team.run('claim', 'create', 'taken', '--class', 'cloud');
  const before = await team.client.list(DeploymentTargetClaim);
  const failures: [args: string[], message: string][] = [
    [['claim', 'create', 'x', '--class', 'kept', '--selector', 'a in ('], 'invalid label selector "a in ("'],
    [['claim', 'create', 'x', '--class', 'kept', '--requested-namespace', 'Web'], 'A namespace is at most 63'],
    [['claim', 'create', 'x'], '--class is missing: name one of cloud, kept, local, sandbox, or ""'],
    [
      ['claim', 'create', 'x', '--class', 'sandbx'],
      '--class "sandbx": there is no class with this name; did you mean sandbox?',
    ],
    [
      ['claim', 'create', 'x', '--target', 'our'],
      '--target "our": there is no target with this name in namespace team; did you mean ours?',
    ],
    [['claim', 'create', 'x', '--target', 'ours'], '--target "ours": it is Released; choose one that is Available'],
    [
      ['claim', 'create', 'x', '--class', 'sandbox', '--ttl', 'soon'],
      "option '--ttl <duration>' argument 'soon' is invalid. A duration is a number with a unit",
    ],
    [
      ['claim', 'create', 'x', '--class', 'sandbox', '--ttl', '0s'],
      "option '--ttl <duration>' argument '0s' is invalid. It must be greater than zero",
    ],
    [
      ['claim', 'create', 'Upper', '--class', 'sandbox'],
      'NAME "Upper": a name is at most 63 lowercase letters, digits and hyphens',
    ],
    [['claim', 'create', 'taken', '--class', 'sandbox'], 'claim team/taken already exists and is different'],
    [['claim', 'create', 'x', '--class', 'sandbox', '-n', 'nowhere'], 'namespaces "nowhere" not found'],
    [['claim', 'create', 'x', '--clas', 'sandbox'], '(Did you mean --class?)'],
    [['claim', 'describe', 'takn'], 'there is no claim takn in namespace team; did you mean taken?'],
    [['claim', 'delete', 'taken', 'other'], 'there is no claim other in namespace team'],
    [
      ['target', 'describe', 'nothing'],
      'there is no target nothing in namespace team; "offshoot target list -A" lists all of them',
    ],
  ];
  for (const [args, message] of failures) {
    const ran = await team.run(...args);
    expect([args, ran.code, ran.stdout]).toEqual([args, 1, '']);
    expect(ran.stderr).toContain(message);
  }
  const names = (page: typeof before): string[] => page.items.map(({ metadata }) => metadata.uid!);
  expect(names(await team.client.list(DeploymentTargetClaim))).toEqual(names(before));
  await team.run('claim', 'delete', 'taken');
});

test('delete selects claims by name, label or file, but not by two of them', { timeout: 60_000 }, async () => {
  const claims = ['red', 'blue'].map((name) => ({
    apiVersion: 'appstudio.redhat.com/v1alpha1',
    kind: 'DeploymentTargetClaim',
    metadata: { name, namespace: 'team', labels: { colour: name } },
    spec: { deploymentTargetClassName: 'cloud' },
  }));
  for (const claim of claims) await team.client.create(DeploymentTargetClaim, claim);
  const file = path.join(team.dir, 'red.json');
  writeFileSync(file, JSON.stringify(claims[0]));
  const name = (each: string): string => `deploymenttargetclaim.appstudio.redhat.com/${each}\n`;
  expect((await team.run('claim', 'delete', '-l', 'colour=blue', '-o', 'name')).stdout).toBe(name('blue'));
  expect((await team.run('claim', 'delete', '-f', file, '-o', 'name')).stdout).toBe(name('red'));
  expect((await team.run('claim', 'delete', '-l', 'colour=blue')).stderr).toBe('No claims found in namespace team.\n');
  expect((await team.run('claim', 'delete')).stderr).toContain('code: MissingArgument');
  expect((await team.run('claim', 'delete', 'red', '-l', 'colour=red')).stderr).toContain('code: ConflictingFlags');
});

test('completion suggests names of claims, targets and classes', { timeout: 60_000 }, async () => {
  await team.run('claim', 'create', 'offered', '--class', 'cloud');
  const offers = async (...words: string[]): Promise<string> => {
    const { stdout } = await team.run('complete', '--', ...words);
    const lines = stdout.trimEnd().split('\n').slice(0, -1);
    return lines.map((line) => line.split('\t')[0]).join(' ');
  };
  // Completion gives up quickly on a slow cluster, so a busy machine may need another try.
  await until(async () => (await offers('claim', 'kubeconfig', '')) === 'offered', 25_000);
  await until(async () => (await offers('target', 'describe', 'o')) === 'ours', 25_000);
  await until(async () => (await offers('claim', 'create', 'x', '--class', '')) === 'cloud kept local sandbox', 25_000);
  await until(async () => (await offers('claim', 'create', 'x', '--target', 'held')) === 'held-dt', 25_000);
  expect(await offers('claim', 'describe', '-n', 'default', '')).toBe('');
  await team.run('claim', 'delete', 'offered');
});

test('commands report that no controller runs or that a definition is not installed', { timeout: 60_000 }, async () => {
  const unattended = await openTeam({ controllers: false });
  try {
    await unattended.addClass('sandbox', 'appstudio.redhat.com/devsandbox');
    const create = ['claim', 'create', 'alone', '--class', 'sandbox', '--wait', '--timeout', '500ms'];
    const created = await unattended.run(...create);
    expect(created.code).toBe(3);
    expect(created.stderr).toContain(
      'error: claim team/alone is not bound after 0.5s\n' +
        '  Claim team/alone: no controller has looked at it yet: check that "offshoot run --controllers targets" runs for this cluster\n',
    );
    await unattended.client.patch(
      DeploymentTargetClaim,
      { name: 'alone', namespace: 'team' },
      { type: 'merge', body: { metadata: { finalizers: ['binder.appstudio.redhat.com/finalizer'] } } },
    );
    const deleted = await unattended.run('claim', 'delete', 'alone', '--timeout', '500ms');
    expect(deleted.code).toBe(3);
    expect(deleted.stderr).toContain(
      'error: not gone after 0.5s\n  Claim team/alone is still there\n' +
        '  Claim team/alone: waits for the finalizers binder.appstudio.redhat.com/finalizer\n',
    );
    await unattended.client.delete(Definition, { name: 'deploymenttargets.appstudio.redhat.com' });
    await until(async () => (await unattended.run('target', 'list')).code === 1, 20_000);
    expect((await unattended.run('target', 'list')).stderr).toBe(
      'error: this cluster does not know DeploymentTarget: install it with "offshoot crds | kubectl apply -f -"\ncode: NotInstalled, see "offshoot errors NotInstalled"\n',
    );
  } finally {
    await unattended.stop();
  }
});
