// The renderer that runs istioctl, tested with programs that misbehave.
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { defaultOperator } from '../operator/defaults.ts';
import { istioctlRenderer } from './istioctl.ts';
import type { IstioctlOptions } from './istioctl.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'istioctl-'));
afterAll(() => rmSync(folder, { recursive: true }));

const operator = defaultOperator({ size: 'Evaluation', hub: 'h', tag: '1.31.0-distroless' });
const VERSION = 'if [ "$1" = version ]; then echo "client version: 1.31.0"; exit 0; fi';
let made = 0;

/** A program that prints its version, and otherwise runs a script. */
function program(script: string, version = VERSION): string {
  const file = path.join(folder, `istioctl-${++made}`);
  writeFileSync(file, `#!/bin/sh\n${version}\n${script}\n`);
  chmodSync(file, 0o755);
  return file;
}

const render = (file: string, options: Partial<IstioctlOptions> = {}, signal?: AbortSignal) =>
  istioctlRenderer({ program: file, ...options }).render(operator, signal);

test('istioctl gets the operator as JSON, and its objects are returned', async () => {
  const seen = path.join(folder, 'seen');
  const file = program(`echo "$@" > ${seen}; cat >> ${seen}
printf 'apiVersion: v1\\nkind: ConfigMap\\nmetadata: {name: a, namespace: b}\\n---\\n\\n---\\napiVersion: v1\\nkind: Secret\\nmetadata: {name: c}\\n'`);
  const objects = await render(file);
  expect(objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`)).toEqual(['ConfigMap a', 'Secret c']);
  const [line, ...input] = readFileSync(seen, 'utf8').split('\n');
  expect(line).toBe('manifest generate -f -');
  expect(JSON.parse(input.join('\n'))).toEqual(operator);
});

test('the name of the program is not run by a shell', async () => {
  const touched = path.join(folder, 'touched');
  await expect(render(`true; touch ${touched}`)).rejects.toThrow('it is not installed');
  expect(() => readFileSync(touched)).toThrow('ENOENT');
});

test('a missing program is named in the error', async () => {
  await expect(render('/nowhere/istioctl')).rejects.toThrow(
    '/nowhere/istioctl could not render manifests: it is not installed',
  );
});

test('the error contains the standard error of the program', async () => {
  const file = program('echo "Error: unknown field foo" >&2; exit 1');
  await expect(render(file)).rejects.toThrow('it ended with exit code 1: Error: unknown field foo');
});

test('a program that hangs is killed after the deadline, also if it started other processes', async () => {
  const file = program('echo "connecting" >&2; sleep 600 & sleep 600');
  // On a busy machine, it takes a while until the program has printed anything.
  await expect(render(file, { deadlineMs: 3_000 })).rejects.toThrow('it did not finish within 3 s: connecting');
});

test('a program that prints too much is killed', async () => {
  const file = program('yes "kind: ConfigMap"');
  await expect(render(file, { outputLimit: 100_000 })).rejects.toThrow('it printed more than 100000 bytes');
});

test.each([
  ['words', 'echo hello', 'document 0 is not a Kubernetes object: found "hello"'],
  ['broken YAML', "printf 'a: [\\n'", 'document 0 is not YAML: '],
  ['nothing', 'true', 'it contains no objects'],
  ['an object without a name', "printf 'apiVersion: v1\\nkind: Secret\\n'", 'it has no metadata.name'],
])('a program that prints %s is reported', async (_what, script, problem) => {
  await expect(render(program(script))).rejects.toThrow(problem);
});

test('a program of another version is refused, as its charts do not match our images', async () => {
  const file = program('true', VERSION.replace('1.31.0', '1.30.2'));
  await expect(render(file)).rejects.toThrow('its version is 1.30.2, and 1.31.0-distroless is to be installed');
});

test('a program that does not print its version is refused', async () => {
  await expect(render(program('true', 'echo soon; exit 0'))).rejects.toThrow('it did not print its version: "soon\\n"');
});

test('a program that is installed later is found', async () => {
  const file = path.join(folder, 'later');
  const renderer = istioctlRenderer({ program: file });
  await expect(renderer.render(operator)).rejects.toThrow('it is not installed');
  writeFileSync(file, readFileSync(program("printf 'apiVersion: v1\\nkind: Secret\\nmetadata: {name: c}\\n'")));
  chmodSync(file, 0o755);
  expect(await renderer.render(operator)).toHaveLength(1);
});

test('rendering ends when it is aborted', async () => {
  const abort = new AbortController();
  const file = program(`sleep 600`);
  const rendering = render(file, {}, abort.signal);
  setImmediate(() => abort.abort());
  await expect(rendering).rejects.toThrow('it is no longer needed');
});
