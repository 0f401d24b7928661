import { expect, test } from 'vitest';
import type { AnyObject } from '../../../kube/index.ts';
import { Tracker, WatchableMap } from '../../../watchable/index.ts';
import { defaultOperator } from '../operator/defaults.ts';
import type { IstioOperator } from '../operator/operator.ts';
import { renderedManifests } from './rendered.ts';
import type { Rendered } from './rendered.ts';
import { RenderError } from './renderer.ts';

const operator = (tag: string): IstioOperator => defaultOperator({ size: 'Evaluation', hub: 'h', tag });
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** A renderer whose runs the test ends. */
async function world() {
  const operators = new WatchableMap<string, IstioOperator>({ name: 'operators' });
  const runs: {
    readonly tag: string;
    readonly signal?: AbortSignal;
    readonly end: PromiseWithResolvers<AnyObject[]>;
  }[] = [];
  const rendered = renderedManifests(
    {
      name: 'test',
      render(each, signal) {
        const end = Promise.withResolvers<AnyObject[]>();
        runs.push({ tag: each.spec.tag, ...(signal && { signal }), end });
        return end.promise;
      },
    },
    (read, key) => read.get(operators, key),
  );
  let seen: Rendered | undefined;
  const tracker = new Tracker<string>({
    wake: () => look(),
  });
  const look = (): void => tracker.track('test', (read) => void (seen = read.get(rendered, 'mesh')));
  operators.store('mesh', operator('1'));
  look();
  await turn();
  return { operators, runs, seen: () => seen };
}
const objects = (name: string): AnyObject[] => [{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } }];

test('renderedManifests renders equal input once', async () => {
  const { operators, runs, seen } = await world();
  expect(seen()).toEqual({ state: 'pending' });
  runs[0]!.end.resolve(objects('a'));
  await turn();
  expect(seen()).toMatchObject({ state: 'ready', value: [{ metadata: { name: 'a' } }] });
  operators.store('mesh', operator('1'));
  await turn();
  expect(runs).toHaveLength(1);
});

test('renderedManifests keeps the previous manifests while another version is rendered, and if that fails', async () => {
  const { operators, runs, seen } = await world();
  runs[0]!.end.resolve(objects('a'));
  await turn();
  operators.store('mesh', operator('2'));
  await turn();
  expect(seen()).toMatchObject({ state: 'pending', value: [{ metadata: { name: 'a' } }] });
  runs[1]!.end.reject(new RenderError('istioctl could not render manifests: it is not installed'));
  await turn();
  expect(seen()).toMatchObject({
    state: 'failed',
    error: 'istioctl could not render manifests: it is not installed',
    value: [{ metadata: { name: 'a' } }],
  });
});

test('renderedManifests aborts a renderer that hangs when the operator changes', async () => {
  const { operators, runs, seen } = await world();
  operators.store('mesh', operator('2'));
  await turn();
  expect(runs.map(({ tag, signal }) => [tag, signal?.aborted])).toEqual([
    ['1', true],
    ['2', false],
  ]);
  runs[1]!.end.resolve(objects('b'));
  await turn();
  expect(seen()).toMatchObject({ state: 'ready', value: [{ metadata: { name: 'b' } }] });
});
