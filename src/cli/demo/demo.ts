// Runs the story of `offshoot demo`: each command runs in this process as shown, on a temporary cluster.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { connect, loadConfig } from '../../kube/index.ts';
import type { Client, Kind } from '../../kube/index.ts';
import { worldKinds } from '../../traffic/index.ts';
import { jsonEqual } from '../../watchable/index.ts';
import { envCommand } from '../env/command.ts';
import { EXIT, failure, interruptible } from '../exit.ts';
import { explainCommand } from '../explain/command.ts';
import { programWith, reportFailure } from '../program.ts';
import { proveCommand } from '../prove/command.ts';
import { painter } from '../terminal/colour.ts';
import { offshootCommand } from '../up/commands.ts';
import { KEY_HEADER, MANIFEST, manifestOf, storyOf } from './story.ts';
import type { Shown } from './story.ts';

/** Runs the demo, and cleans up after it. */
export async function demo(): Promise<void> {
  const undo = new AsyncDisposableStack();
  try {
    await interruptible(async (signal) => {
      const interrupted = Promise.withResolvers<never>();
      interrupted.promise.catch(() => undefined);
      signal.addEventListener('abort', () => interrupted.reject(signal.reason as Error));
      await Promise.race([runStory(undo, signal), interrupted.promise]);
    });
  } finally {
    await undo.disposeAsync();
  }
}

async function runStory(undo: AsyncDisposableStack, signal: AbortSignal): Promise<void> {
  const paint = painter(process.stdout);
  const started = performance.now();
  const { url, sample, client } = await prepare(undo);
  const seconds = ((performance.now() - started) / 1_000).toFixed(1);
  console.log(`A Kubernetes API, the controllers and a sample shop, in this process: ready in ${seconds} s.`);
  const before = await shopIn(client, sample.namespace);
  for (const [number, { title, shown }] of storyOf(sample).entries()) {
    console.log(`\n${paint('strong', `${number + 1}. ${title}`)}`);
    for (const each of shown) {
      signal.throwIfAborted();
      console.log(`\n${paint('quiet', '$')} ${commandLine(each, url)}`);
      await show(each, url);
    }
  }
  if (!jsonEqual(before, await shopIn(client, sample.namespace))) {
    throw failure(
      'DemoFailed',
      `namespace ${sample.namespace} is not as it was before: the environments left something behind`,
    );
  }
  console.log('\nEvery route and workload of the shop is as it was before, and no other object is left.');
  console.log(`${paint('strong', 'Your turn:')} ${offshootCommand()} up`);
}

interface Prepared {
  readonly url: string;
  readonly sample: Parameters<typeof storyOf>[0];
  readonly client: Client;
}

/** Starts a cluster with the shop, and creates a folder with the files that the commands need. */
async function prepare(undo: AsyncDisposableStack): Promise<Prepared> {
  const { startLocal } = await import('../up/cluster.ts');
  const dir = mkdtempSync(path.join(tmpdir(), 'offshoot-demo-'));
  undo.defer(() => rmSync(dir, { recursive: true, force: true }));
  const anyPort = { exactly: 0 };
  const local = await startLocal({
    dataDir: undefined,
    fresh: false,
    port: anyPort,
    controllers: true,
    gateway: anyPort,
  });
  undo.defer(() => local.stop());
  const { url, sample } = local.playground!;
  const kubeconfig = path.join(dir, 'kubeconfig');
  writeFileSync(kubeconfig, local.cluster.kubeconfig(), { mode: 0o600 });
  writeFileSync(path.join(dir, MANIFEST), manifestOf(sample));
  // The commands find both through the working directory and KUBECONFIG.
  const [folder, kubeconfigBefore] = [process.cwd(), process.env['KUBECONFIG']];
  undo.defer(() => {
    process.chdir(folder);
    if (kubeconfigBefore === undefined) delete process.env['KUBECONFIG'];
    else process.env['KUBECONFIG'] = kubeconfigBefore;
  });
  process.chdir(dir);
  process.env['KUBECONFIG'] = kubeconfig;
  const client = connect(loadConfig());
  undo.defer(() => client.close());
  return { url, sample, client };
}

/** The names and specs of all objects that affect routing in a namespace. */
async function shopIn(client: Client, namespace: string): Promise<unknown> {
  const lists = await Promise.all(worldKinds.map((kind) => client.list(kind as Kind, { namespace })));
  return lists.map(({ items }) => items.map(({ metadata, spec }) => [metadata.name, spec]));
}

function commandLine(shown: Shown, url: string): string {
  if ('curl' in shown) return `curl ${shown.curl === undefined ? '' : `-H '${KEY_HEADER}: ${shown.curl}' `}${url}`;
  if ('cat' in shown) return `cat ${shown.cat}`;
  const words = shown.offshoot.map((word) => (/[ *]/.test(word) ? `'${word}'` : word));
  return `offshoot ${words.join(' ')}`;
}

async function show(shown: Shown, url: string): Promise<void> {
  if ('curl' in shown) {
    const answer = await fetch(url, { headers: shown.curl === undefined ? {} : { [KEY_HEADER]: shown.curl } });
    process.stdout.write(await answer.text());
    return;
  }
  if ('cat' in shown) {
    process.stdout.write(readFileSync(shown.cat, 'utf8'));
    return;
  }
  const { offshoot, code: expected = EXIT.ok } = shown;
  const code = await runCommand(offshoot);
  if (code !== expected) throw failure('DemoFailed', `offshoot ${offshoot.join(' ')}: it ended with exit code ${code}`);
}

/** Runs a command as main.ts does, and returns its exit code. */
async function runCommand(args: readonly string[]): Promise<number> {
  try {
    await programWith([envCommand(), explainCommand(), proveCommand()]).parseAsync(args, { from: 'user' });
    return EXIT.ok;
  } catch (error) {
    return reportFailure(error);
  }
}
