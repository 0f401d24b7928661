import { expect, test } from 'vitest';
import { Overlay } from '../../watchable/index.ts';
import { defaultOperator } from '../installation/operator/defaults.ts';
import { renderedManifests } from '../installation/render/rendered.ts';
import { RenderError } from '../installation/render/renderer.ts';
import { Renderings } from './renderings.ts';

const operator = (tag: string) => defaultOperator({ size: 'Evaluation', hub: 'h', tag });
const object = (name: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } });

test('repeat renders missing manifests once, and then returns them at once', async () => {
  const asked: string[] = [];
  const renderings = new Renderings({
    name: 'test',
    async render({ spec }) {
      asked.push(spec.tag);
      if (spec.tag === 'bad') throw new RenderError('it is not installed');
      return [object(spec.tag)];
    },
  });
  const make = () => {
    const first = renderings.known(operator('1'));
    // The second operator is only known after the first was rendered.
    return first.state === 'pending' ? [first] : [first, renderings.known(operator('bad'))];
  };
  expect(await renderings.repeat(make)).toEqual([
    { state: 'ready', value: [object('1')] },
    { state: 'failed', error: 'it is not installed' },
  ]);
  expect(asked).toEqual(['1', 'bad']);
});

test('renderedManifests reads cached manifests without waiting', async () => {
  // oxlint-disable-next-line typescript/require-await -- the interface is asynchronous: istioctl is a program
  const renderings = new Renderings({ name: 'test', render: async () => [object('a')] });
  const manifests = renderedManifests(renderings, () => operator('1'));
  // Each read has its own overlay, as in a forecast.
  const read = () => new Overlay().read.get(manifests, 'mesh');
  expect(await renderings.repeat(read)).toEqual({ state: 'ready', value: [object('a')] });
});

test('repeat rejects with the reason of the abort, not with a failure to render', async () => {
  const ending = new AbortController();
  const renderings = new Renderings({
    name: 'test',
    async render() {
      ending.abort(new Error('interrupted'));
      throw new RenderError('it is no longer needed');
    },
  });
  await expect(renderings.repeat(() => renderings.known(operator('1')), ending.signal)).rejects.toThrow('interrupted');
});
