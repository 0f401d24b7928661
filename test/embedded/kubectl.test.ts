// Runs kubectl against the embedded cluster and checks its output: all commands with the newest version on this
// machine, the most common commands with all other versions. Skipped where none is installed.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { refusedByKubectl, takenByKubectl } from '../../src/cli/testing/yaml-habits.ts';
import { installedKubectls, openSession } from './kubectl-session.ts';
import type { Session } from './kubectl-session.ts';

const kubectls = installedKubectls();
const newest = kubectls.at(-1);
const timeout = 90_000;

const web = (image: string, containers = ''): string => `
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

const config = (owner: string): string => `
apiVersion: v1
kind: ConfigMap
metadata: {name: shared}
data: {owner: ${owner}}
`;

const editor = (expression: string): string => `#!/bin/sh
sed -i '${expression}' "$1"
`;

describe.skipIf(newest === undefined).concurrent(`kubectl ${newest?.version}`, () => {
  let session: Session;
  beforeAll(async () => {
    session = await openSession(newest!);
  });
  afterAll(() => session?.close());

  test('applies, diffs, changes and rolls out a deployment, and undoes a rollout', { timeout }, async () => {
    const { kube, run, refused, file } = session;
    const first = file('web.yaml', web('nginx:1', '      - {name: side, image: busybox}'));
    const second = file('web2.yaml', web('nginx:2'));
    expect(await kube('apply', '-f', first)).toBe('deployment.apps/web created\nservice/web created\n');
    expect(await kube('apply', '-f', first)).toBe('deployment.apps/web unchanged\nservice/web unchanged\n');
    expect(await kube('rollout', 'status', 'deployment/web', '--timeout=30s')).toContain('successfully rolled out');
    const difference = await run(['diff', '-f', second]);
    expect([difference.code, difference.out]).toEqual([1, expect.stringContaining('+      - image: nginx:2')]);
    expect(await kube('apply', '-f', second)).toContain('deployment.apps/web configured');
    expect((await run(['diff', '-f', second])).code).toBe(0);
    const image = 'jsonpath={.spec.template.spec.containers[*].image}';
    expect(await kube('get', 'deploy', 'web', '-o', image)).toBe('nginx:2');
    expect(await kube('set', 'image', 'deployment/web', 'web=nginx:3')).toBe('deployment.apps/web image updated\n');
    expect(await kube('rollout', 'status', 'deployment/web', '--timeout=30s')).toContain('successfully rolled out');
    expect(await kube('rollout', 'undo', 'deployment/web')).toBe('deployment.apps/web rolled back\n');
    expect(await kube('get', 'deploy', 'web', '-o', image)).toBe('nginx:2');
    expect(await kube('rollout', 'restart', 'deployment/web')).toBe('deployment.apps/web restarted\n');
    expect(await kube('rollout', 'history', 'deployment/web')).toMatch(/REVISION +CHANGE-CAUSE\n/);
    await kube('wait', '--for=condition=Available', 'deployment/web', '--timeout=30s');
    expect(await kube('describe', 'deployment', 'web')).toContain('NewReplicaSet:');
    expect(await kube('logs', 'deployment/web')).toContain('web');
    expect(await kube('replace', '-f', second)).toContain('deployment.apps/web replaced');
    await kube('delete', '-f', second, '--timeout=30s');
    expect(await refused('get', 'deploy', 'web')).toBe(
      'Error from server (NotFound): deployments.apps "web" not found\n',
    );
  });

  test('accepts and refuses the same unusual YAML as our CLI', { timeout }, async () => {
    const { kube, refused, file } = session;
    const read = ['create', '--dry-run=client', '--validate=false', '-o', 'json'];
    const manifest = ([text]: readonly [string, unknown], i: number): string[] => {
      const head = `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m${i}}\n`;
      return ['-f', file(`m${i}.yaml`, `${head}${text}`)];
    };
    const printed = await kube(...read, ...takenByKubectl.flatMap(manifest));
    const items = printed.split(/(?<=^\})\n/m).flatMap((text) => (text === '' ? [] : (JSON.parse(text) as object)));
    expect(items).toMatchObject(takenByKubectl.map(([, value]) => value as object));
    for (const each of refusedByKubectl) await refused(...read, ...manifest(each, 100));
  });

  test('applies on the server side, with field managers and conflicts', { timeout }, async () => {
    const { kube, refused, file } = session;
    const [mine, theirs] = [file('mine.yaml', config('me')), file('theirs.yaml', config('them'))];
    const apply = ['apply', '--server-side', '-f'];
    expect(await kube(...apply, mine, '--field-manager=me')).toBe('configmap/shared serverside-applied\n');
    expect(await refused(...apply, theirs, '--field-manager=them')).toContain('conflict with "me": .data.owner');
    await kube(...apply, theirs, '--field-manager=them', '--force-conflicts');
    expect(await kube('get', 'cm', 'shared', '-o', 'yaml', '--show-managed-fields')).toMatch(/manager: them/);
    expect(await kube('get', 'cm', 'shared', '-o', 'jsonpath={.data.owner}')).toBe('them');
    // Switches back to client-side apply.
    await kube('apply', '-f', mine);
    expect(await kube('get', 'cm', 'shared', '-o', 'jsonpath={.data.owner}')).toBe('me');
    await kube('replace', '--force', '-f', mine);
    await kube('delete', '-f', mine);
  });

  test('creates objects that it sends as protobuf or as JSON', { timeout }, async () => {
    const { kube, run, refused } = session;
    await kube('create', 'namespace', 'made');
    const create = (...args: string[]): Promise<string> => kube('create', ...args, '-n', 'made');
    await create('configmap', 'map', '--from-literal=a=b');
    await create('secret', 'generic', 'hush', '--from-literal=a=b');
    await create('serviceaccount', 'robot');
    await create('deployment', 'none', '--image=nginx', '--replicas=0', '--port=80');
    await create('role', 'reader', '--verb=get,list', '--resource=pods');
    await create('rolebinding', 'reader', '--role=reader', '--serviceaccount=made:robot');
    await create('job', 'once', '--image=busybox');
    await create('cronjob', 'often', '--image=busybox', '--schedule=* * * * *');
    await create('ingress', 'door', '--rule=example.com/=none:80');
    await create('quota', 'limit', '--hard=pods=10');
    await kube('create', 'priorityclass', 'made-first', '--value=10');
    await create('service', 'clusterip', 'plain', '--tcp=80');
    await create('poddisruptionbudget', 'calm', '--selector=app=none', '--min-available=1');
    await kube('expose', 'deployment', 'none', '--port=80', '-n', 'made');
    await kube('autoscale', 'deployment', 'none', '--max=3', '-n', 'made');
    await kube('run', 'lone', '--image=nginx', '-n', 'made');
    await kube('wait', '--for=jsonpath={.status.phase}=Running', 'pod/lone', '-n', 'made', '--timeout=30s');
    expect(await kube('get', 'secret', 'hush', '-n', 'made', '-o', 'jsonpath={.data.a}')).toBe('Yg==');
    expect(await kube('get', 'deploy', 'none', '-n', 'made', '-o', 'jsonpath={.spec.replicas}')).toBe('0');
    expect(await kube('describe', 'quota', 'limit', '-n', 'made')).toMatch(/pods +\d+ +10/);
    const rule = 'jsonpath={.spec.rules[0].host} {.spec.rules[0].http.paths[0].backend.service.name}';
    expect(await kube('get', 'ingress', 'door', '-n', 'made', '-o', rule)).toBe('example.com none');
    expect(await kube('get', 'hpa', 'none', '-n', 'made', '-o', 'jsonpath={.spec.maxReplicas}')).toBe('3');
    const robot = 'system:serviceaccount:made:robot';
    expect(await kube('auth', 'can-i', 'list', 'pods', '-n', 'made', '--as', robot)).toBe('yes\n');
    expect((await run(['auth', 'can-i', 'list', 'secrets', '-n', 'made', '--as', robot])).out).toBe('no\n');
    expect(await kube('auth', 'can-i', '--list', '-n', 'made', '--as', robot)).toMatch(
      /pods +\[\] +\[\] +\[get list\]/,
    );
    const token = (await create('token', 'robot')).trim();
    const bare = ['--token', token, '--client-certificate=', '--client-key='];
    expect(await kube('get', 'pods', '-n', 'made', '-o', 'name', ...bare)).toContain('pod/lone\n');
    await kube('delete', 'namespace', 'made', '--timeout=30s');
    expect(await refused('get', 'namespace', 'made')).toContain('namespaces "made" not found');
  });

  test('labels, annotates, patches, scales and edits an object', { timeout }, async () => {
    const { kube, run, refused, file } = session;
    await kube('create', 'deployment', 'one', '--image=nginx', '--replicas=1');
    await kube('label', 'deployment', 'one', 'tier=front');
    expect(await refused('label', 'deployment', 'one', 'tier=back')).toContain('already has a value (front)');
    await kube('annotate', 'deployment', 'one', 'note=x');
    await kube('annotate', 'deployment', 'one', 'note-');
    const patch = (type: string, body: unknown, ...args: string[]): Promise<string> =>
      kube('patch', 'deployment', 'one', `--type=${type}`, '-p', JSON.stringify(body), ...args);
    await patch('json', [{ op: 'add', path: '/metadata/labels/x', value: 'y' }]);
    await patch('merge', { metadata: { annotations: { merged: 'yes' } } });
    await patch('strategic', { spec: { template: { spec: { containers: [{ name: 'b', image: 'c' }] } } } });
    await patch('merge', { status: { collisionCount: 7 } }, '--subresource=status');
    expect(await patch('merge', { metadata: { labels: { x: 'y' } } })).toBe(
      'deployment.apps/one patched (no change)\n',
    );
    await kube('scale', 'deployment', 'one', '--replicas=3');
    expect(await refused('scale', 'deployment', 'one', '--replicas=9', '--current-replicas=1')).toContain(
      'Expected replicas to be 1, was 3',
    );
    const edit = (expression: string): ReturnType<Session['run']> =>
      run(['edit', 'deployment', 'one'], { KUBE_EDITOR: file(`editor-${expression.length}`, editor(expression)) });
    expect(await edit('s/tier: front/tier: back/')).toMatchObject({ code: 0, error: '' });
    expect((await edit('')).error + (await edit('')).out).toContain('Edit cancelled');
    expect(await kube('get', 'deploy', '-l', 'tier=back,x=y', '-o', 'name')).toBe('deployment.apps/one\n');
    expect(
      await kube('get', 'deploy', 'one', '-o', 'jsonpath={.spec.replicas} {.spec.template.spec.containers[*].name}'),
    ).toBe('3 b nginx');
    await kube('delete', 'deployment', 'one', '--timeout=30s');
  });

  test('uses a new CustomResourceDefinition at once', { timeout }, async () => {
    const { kube, refused, file } = session;
    const [kind, object] = [file('definition.yaml', definition), file('custom.yaml', custom)];
    expect(await kube('apply', '-f', kind)).toContain('created');
    await kube('wait', '--for=condition=Established', 'crd/crontabs.example.com', '--timeout=30s');
    expect(await kube('apply', '-f', object)).toBe('crontab.example.com/tab created\n');
    expect(await kube('apply', '-f', object)).toBe('crontab.example.com/tab unchanged\n');
    expect(await kube('apply', '--server-side', '-f', object, '--force-conflicts')).toContain('serverside-applied');
    expect(await kube('get', 'ct')).toMatch(/^NAME +SCHEDULE\ntab +\* \* \* \* \*\n$/);
    expect(await kube('explain', 'crontabs.spec.schedule')).toContain('When it runs.');
    const wrong = file('wrong.yaml', custom.replace('schedule:', 'shedule:'));
    expect(await refused('apply', '-f', wrong)).toContain('unknown field "spec.shedule"');
    await kube('delete', '-f', kind, '--timeout=30s');
    expect(await refused('get', 'crontabs.example.com', 'tab')).not.toBe('');
  });

  test('deletes objects with finalizers and orphans, and waits for deletions', { timeout }, async () => {
    const { kube, run, refused } = session;
    await kube('create', 'namespace', 'ends');
    const inside = ['-n', 'ends'];
    await kube('create', 'configmap', 'held', ...inside);
    const finalizers = (list: readonly string[]): string => JSON.stringify({ metadata: { finalizers: list } });
    await kube('patch', 'cm', 'held', '--type=merge', '-p', finalizers(['example.com/hold']), ...inside);
    expect(await refused('delete', 'cm', 'held', '--timeout=1s', ...inside)).toContain('timed out waiting');
    expect(await kube('get', 'cm', 'held', '-o', 'jsonpath={.metadata.deletionTimestamp}', ...inside)).toMatch(/Z$/);
    const waiting = run(['wait', '--for=delete', 'cm/held', '--timeout=30s', ...inside]);
    await kube('patch', 'cm', 'held', '--type=merge', '-p', finalizers([]), ...inside);
    expect(await waiting).toMatchObject({ code: 0 });
    await kube('create', 'deployment', 'parent', '--image=nginx', ...inside);
    await kube('rollout', 'status', 'deployment/parent', '--timeout=30s', ...inside);
    await kube('delete', 'deployment', 'parent', '--cascade=orphan', ...inside);
    expect(await kube('get', 'rs', '-l', 'app=parent', '-o', 'name', ...inside)).toContain('replicaset.apps/parent-');
    await kube('delete', 'rs', '--all', '--cascade=foreground', '--timeout=30s', ...inside);
    expect(await kube('get', 'pods', '-o', 'name', ...inside)).toBe('');
    await kube('delete', 'pod', 'absent', '--ignore-not-found', ...inside);
    expect(await refused('delete', 'pod', 'absent', ...inside)).toContain('pods "absent" not found');
    await kube('delete', 'namespace', 'ends', '--timeout=30s');
  });

  test('watches objects', { timeout }, async () => {
    const { kube, follow } = session;
    const watch = follow('get', 'configmaps', '-l', 'watch=me', '-w', '--output-watch-events');
    await kube('create', 'configmap', 'watched');
    await kube('label', 'configmap', 'watched', 'watch=me');
    await watch.shows('ADDED');
    await kube('annotate', 'configmap', 'watched', 'note=x');
    await watch.shows('MODIFIED');
    await kube('delete', 'configmap', 'watched');
    expect(await watch.shows('DELETED')).toMatch(
      /^EVENT .*\nADDED +watched .*\n(MODIFIED +watched .*\n)+DELETED +watched /,
    );
    watch.stop();
  });

  test('shows nodes and pods in every output format', { timeout }, async () => {
    const { kube, refused } = session;
    await kube('create', 'namespace', 'shown');
    const inside = ['-n', 'shown'];
    await kube('run', 'seen', '--image=nginx', '--labels=app=seen', ...inside);
    await kube('wait', '--for=condition=Ready', 'pod/seen', '--timeout=30s', ...inside);
    expect(await kube('get', 'pods', ...inside)).toMatch(
      /^NAME +READY +STATUS +RESTARTS +AGE\nseen +1\/1 +Running +0 /,
    );
    expect(await kube('get', 'pods', '-o', 'wide', ...inside)).toMatch(/ IP +NODE +NOMINATED NODE +READINESS GATES\n/);
    expect(await kube('get', 'pod', 'seen', '-o', 'yaml', ...inside)).toMatch(
      /^apiVersion: v1\nkind: Pod\nmetadata:\n/,
    );
    expect(await kube('get', 'pod', 'seen', '-o', 'jsonpath={.spec.containers[0].image}', ...inside)).toBe('nginx');
    expect(await kube('get', 'pods', '-o', 'custom-columns=A:.metadata.name', ...inside)).toBe('A\nseen\n');
    expect(await kube('get', 'pods', '--field-selector=status.phase=Running', '-o', 'name', ...inside)).toBe(
      'pod/seen\n',
    );
    expect(await kube('get', 'pods', '-A', '--sort-by=.metadata.name', '--chunk-size=1')).toContain('seen');
    expect(await kube('describe', 'pod', 'seen', ...inside)).toMatch(/Status: +Running\n/);
    expect(await kube('events', ...inside)).toContain('Scheduled');
    expect(await kube('get', 'events', ...inside)).toContain('pod/seen');
    expect(await kube('logs', 'seen', '--tail=1', ...inside)).not.toBe('');
    expect(await kube('get', 'all', ...inside)).toContain('pod/seen');
    expect(await kube('describe', 'namespace', 'shown')).toMatch(/Status: +Active\n/);
    expect(await refused('top', 'pods', ...inside)).toContain('error: Metrics API not available');
    await kube('delete', 'namespace', 'shown', '--timeout=30s');
  });

  test('taints and cordons a node', { timeout }, async () => {
    const { kube } = session;
    const node = (await kube('get', 'nodes', '-o', 'jsonpath={.items[0].metadata.name}')).trim();
    expect(await kube('describe', 'node', node)).toMatch(/Ready +True/);
    expect(await kube('taint', 'node', node, 'soft=yes:PreferNoSchedule')).toContain('tainted');
    expect(await kube('taint', 'node', node, 'soft-')).toContain('untainted');
    expect(await kube('cordon', node, '--dry-run=server')).toContain('cordoned');
    expect(await kube('get', 'node', node)).toMatch(/ Ready +/);
  });

  test('shows API resources, versions, permissions and the cluster', { timeout }, async () => {
    const { kube, refused } = session;
    expect(await kube('api-resources', '--api-group=apps', '-o', 'name')).toContain('deployments.apps\n');
    expect(await kube('api-resources', '--verbs=list', '--namespaced=false')).toMatch(
      /namespaces +ns +v1 +false +Namespace/,
    );
    expect(await kube('api-versions')).toContain('apps/v1\n');
    expect(await kube('explain', 'pod.spec.containers')).toContain('FIELD: containers');
    expect(await kube('explain', 'deployment', '--recursive')).toContain('maxSurge');
    expect(await kube('get', 'all', '-A')).toContain('service/kubernetes');
    expect(await kube('get', '--raw', '/readyz')).toBe('ok');
    expect(await kube('version')).toMatch(/Server Version: /);
    expect(await kube('auth', 'whoami')).toContain('kubernetes-admin');
    expect(await kube('cluster-info')).toContain('is running at');
    expect(await refused('get', 'pods', '--as', 'nobody')).toContain('User "nobody" cannot list resource "pods"');
    expect(await kube('create', 'configmap', 'dry', '--dry-run=server', '-o', 'name')).toBe('configmap/dry\n');
    expect(await refused('get', 'configmap', 'dry')).toContain('"dry" not found');
    expect(await refused('get', 'nonsense')).toContain(`the server doesn't have a resource type "nonsense"`);
    expect(await refused('top', 'nodes')).toContain('error: Metrics API not available');
  });
});

describe.concurrent('older versions of kubectl', () => {
  test.each(kubectls.slice(0, -1))('run the most common commands ($version)', { timeout }, async (kubectl) => {
    const { kube, run, refused, file, close } = await openSession(kubectl);
    try {
      const manifest = file('web.yaml', web('nginx:1'));
      expect(await kube('apply', '-f', manifest)).toBe('deployment.apps/web created\nservice/web created\n');
      expect(await kube('apply', '-f', manifest)).toBe('deployment.apps/web unchanged\nservice/web unchanged\n');
      expect(await kube('rollout', 'status', 'deployment/web', '--timeout=30s')).toContain('successfully rolled out');
      expect((await run(['diff', '-f', file('web2.yaml', web('nginx:2'))])).code).toBe(1);
      expect(await kube('get', 'pods')).toMatch(/^NAME +READY +STATUS +RESTARTS +AGE\nweb-/);
      expect(await kube('describe', 'deployment', 'web')).toContain('NewReplicaSet:');
      await kube('create', 'configmap', 'map', '--from-literal=a=b');
      await kube('patch', 'configmap', 'map', '-p', '{"data":{"a":"c"}}');
      expect(await kube('explain', 'deployment.spec.replicas')).toMatch(/replicas/);
      expect(await kube('apply', '--server-side', '-f', manifest, '--force-conflicts')).toContain('serverside-applied');
      await kube('delete', '-f', manifest, '--timeout=30s');
      expect(await refused('get', 'deploy', 'web')).toContain('deployments.apps "web" not found');
    } finally {
      await close();
    }
  });
});
