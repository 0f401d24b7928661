// Real kubectl against the embedded cluster: what a user types, and what they see. Skips where no kubectl is installed.
import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startEmbedded } from '../../src/embedded/index.ts';
import type { Embedded } from '../../src/embedded/index.ts';

/** The oldest and the newest kubectl of this machine. Some packages install several versions side by side. */
function installedKubectls(): string[] {
  for (const directory of (process.env['PATH'] ?? '').split(delimiter)) {
    try {
      const file = realpathSync(join(directory, 'kubectl'));
      const home = dirname(file);
      const versioned = readdirSync(home)
        .filter((name) => /^kubectl\.1\.(29|[3-9]\d)$/.test(name))
        .sort();
      const chosen = versioned.length > 0 ? [...new Set([versioned[0]!, versioned.at(-1)!])] : [];
      return chosen.length > 0 ? chosen.map((name) => join(home, name)) : [file];
    } catch {
      // Not in this directory.
    }
  }
  return [];
}

const kubectls = installedKubectls();
test.skipIf(kubectls.length === 0)('a kubectl is installed to try', () => {
  expect(kubectls).not.toEqual([]);
});

interface Outcome {
  readonly code: number;
  readonly out: string;
  readonly error: string;
}

const web = (image: string, containers: string): string => `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {app: web}}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - {name: web, image: "${image}", ports: [{containerPort: 80}]}
${containers}
---
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {selector: {app: web}, ports: [{port: 80}]}
`;

const definition = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: crontabs.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: crontabs, kind: CronTab, shortNames: [ct]}
  versions:
  - name: v1
    served: true
    storage: true
    additionalPrinterColumns: [{name: Schedule, type: string, jsonPath: .spec.schedule}]
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            required: [schedule]
            properties:
              schedule: {type: string, description: When it runs.}
              replicas: {type: integer, default: 1}
`;

const custom = `
apiVersion: example.com/v1
kind: CronTab
metadata: {name: tab}
spec: {schedule: "* * * * *"}
`;

describe.each(kubectls)('%s', (kubectl) => {
  let embedded: Embedded;
  let home = '';

  beforeAll(async () => {
    home = mkdtempSync(join(tmpdir(), 'embedded-kubectl-'));
    embedded = await startEmbedded();
    writeFileSync(join(home, 'config'), embedded.kubeconfig(), { mode: 0o600 });
  });

  afterAll(async () => {
    await embedded.stop();
    rmSync(home, { recursive: true, force: true });
  });

  function file(name: string, content: string): string {
    const path = join(home, name);
    writeFileSync(path, content);
    return path;
  }

  function run(args: readonly string[], env: Record<string, string> = {}): Promise<Outcome> {
    const own = ['--kubeconfig', join(home, 'config'), '--cache-dir', join(home, 'cache')];
    return new Promise((resolve) => {
      const options = { env: { ...process.env, ...env }, timeout: 25_000 };
      execFile(kubectl, [...own, ...args], options, (failure, out, error) => {
        resolve({ code: failure === null ? 0 : Number(failure.code ?? 1), out, error });
      });
    });
  }

  /** The output of a command that must succeed. */
  async function kube(...args: string[]): Promise<string> {
    const { code, out, error } = await run(args);
    expect({ args, code, error }).toEqual({ args, code: 0, error: expect.not.stringContaining('rror') });
    return out;
  }

  async function refused(...args: string[]): Promise<string> {
    const { code, error } = await run(args);
    expect({ args, failed: code !== 0 }).toEqual({ args, failed: true });
    return error;
  }

  test('apply, apply again, diff, change, roll out and undo', async () => {
    const first = file('web.yaml', web('nginx:1', '      - {name: side, image: busybox}'));
    const second = file('web2.yaml', web('nginx:2', ''));
    expect(await kube('apply', '-f', first)).toBe('deployment.apps/web created\nservice/web created\n');
    expect(await kube('apply', '-f', first)).toBe('deployment.apps/web unchanged\nservice/web unchanged\n');
    expect(await kube('rollout', 'status', 'deployment/web', '--timeout=20s')).toContain('successfully rolled out');
    const difference = await run(['diff', '-f', second]);
    expect([difference.code, difference.out]).toEqual([1, expect.stringContaining('+      - image: nginx:2')]);
    expect(await kube('apply', '-f', second)).toContain('deployment.apps/web configured');
    expect(await kube('get', 'deploy', 'web', '-o', 'jsonpath={.spec.template.spec.containers[*].name}')).toBe('web');
    await kube('set', 'image', 'deployment/web', 'web=nginx:3');
    await kube('rollout', 'restart', 'deployment/web');
    await kube('rollout', 'undo', 'deployment/web');
    await kube('wait', '--for=condition=Available', 'deployment/web', '--timeout=20s');
    expect(await kube('get', 'pods')).toMatch(/^NAME +READY +STATUS +RESTARTS +AGE\nweb-/);
    expect(await kube('describe', 'deployment', 'web')).toContain('NewReplicaSet:');
    expect(await kube('logs', 'deployment/web')).toContain('web');
    expect(await kube('replace', '-f', second)).toContain('deployment.apps/web replaced');
    await kube('delete', '-f', second, '--timeout=20s');
    expect(await refused('get', 'deploy', 'web')).toBe(
      'Error from server (NotFound): deployments.apps "web" not found\n',
    );
  });

  test('create what kubectl sends as protobuf, or as JSON', async () => {
    await kube('create', 'namespace', 'made');
    await kube('create', 'configmap', 'map', '--from-literal=a=b', '-n', 'made');
    await kube('create', 'secret', 'generic', 'hush', '--from-literal=a=b', '-n', 'made');
    await kube('create', 'serviceaccount', 'robot', '-n', 'made');
    await kube('create', 'deployment', 'none', '--image=nginx', '--replicas=0', '--port=80', '-n', 'made');
    await kube('create', 'role', 'reader', '--verb=get,list', '--resource=pods', '-n', 'made');
    await kube('create', 'rolebinding', 'reader', '--role=reader', '--serviceaccount=made:robot', '-n', 'made');
    expect(await kube('get', 'secret', 'hush', '-n', 'made', '-o', 'jsonpath={.data.a}')).toBe('Yg==');
    expect(await kube('get', 'deploy', 'none', '-n', 'made', '-o', 'jsonpath={.spec.replicas}')).toBe('0');
    const robot = 'system:serviceaccount:made:robot';
    expect(await kube('auth', 'can-i', 'list', 'pods', '-n', 'made', '--as', robot)).toBe('yes\n');
    expect((await run(['auth', 'can-i', 'list', 'secrets', '-n', 'made', '--as', robot])).out).toBe('no\n');
    const token = (await kube('create', 'token', 'robot', '-n', 'made')).trim();
    expect(await kube('get', 'pods', '-n', 'made', '--token', token, '--client-certificate=', '--client-key=')).toBe(
      '',
    );
    await kube('delete', 'namespace', 'made', '--timeout=20s');
    expect(await refused('get', 'namespace', 'made')).toContain('namespaces "made" not found');
  });

  test('change one thing: label, annotate, patch, scale, edit', async () => {
    await kube('create', 'deployment', 'one', '--image=nginx', '--replicas=1');
    await kube('label', 'deployment', 'one', 'tier=front');
    await kube('annotate', 'deployment', 'one', 'note=x');
    await kube(
      'patch',
      'deployment',
      'one',
      '--type=json',
      '-p',
      '[{"op":"add","path":"/metadata/labels/x","value":"y"}]',
    );
    await kube(
      'patch',
      'deployment',
      'one',
      '-p',
      '{"spec":{"template":{"spec":{"containers":[{"name":"b","image":"c"}]}}}}',
    );
    await kube('scale', 'deployment', 'one', '--replicas=3');
    const edited = await run(['edit', 'deployment', 'one'], { EDITOR: 'sed -i s/tier:.front/tier:\\ back/' });
    expect([edited.code, edited.error]).toEqual([0, '']);
    expect(await kube('get', 'deploy', '-l', 'tier=back,x=y', '-o', 'name')).toBe('deployment.apps/one\n');
    expect(await kube('get', 'deploy', 'one', '-o', 'jsonpath={.spec.replicas}')).toBe('3');
    await kube('delete', 'deployment', 'one', '--timeout=20s');
  });

  test('define a kind and use it at once', async () => {
    expect(await kube('apply', '-f', file('definition.yaml', definition))).toContain('created');
    const object = file('custom.yaml', custom);
    expect(await kube('apply', '-f', object)).toBe('crontab.example.com/tab created\n');
    expect(await kube('apply', '-f', object)).toBe('crontab.example.com/tab unchanged\n');
    expect(await kube('apply', '--server-side', '-f', object, '--force-conflicts')).toContain('serverside-applied');
    expect(await kube('get', 'ct')).toMatch(/^NAME +SCHEDULE\ntab +\* \* \* \* \*\n$/);
    expect(await kube('explain', 'crontabs.spec.schedule')).toContain('When it runs.');
    const wrong = file('wrong.yaml', custom.replace('schedule:', 'shedule:'));
    expect(await refused('apply', '-f', wrong)).toContain('unknown field "spec.shedule"');
    await kube('delete', '-f', join(home, 'definition.yaml'), '--timeout=20s');
    expect(await refused('get', 'crontabs.example.com', 'tab')).not.toBe('');
  });

  test('look around', async () => {
    expect(await kube('api-resources', '--api-group=apps', '-o', 'name')).toContain('deployments.apps\n');
    expect(await kube('explain', 'pod.spec.containers')).toContain('FIELD: containers');
    expect(await kube('get', 'all', '-A')).toContain('service/kubernetes');
    expect(await kube('get', 'nodes')).toContain('Ready');
    expect(await kube('events', '-A')).toBeDefined();
    expect(await kube('auth', 'whoami')).toContain('kubernetes-admin');
    expect(await kube('cluster-info')).toContain('is running at');
    expect(await refused('get', 'pods', '--as', 'nobody')).toContain('User "nobody" cannot list resource "pods"');
    expect(await kube('create', 'configmap', 'dry', '--dry-run=server', '-o', 'name')).toBe('configmap/dry\n');
  });
});
