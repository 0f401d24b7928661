import { expect, test } from 'vitest';
import { Overlay } from '../../watchable/index.ts';
import { defaultOperator } from '../installation/operator/defaults.ts';
import { renderedManifests } from '../installation/render/rendered.ts';
import { RenderError } from '../installation/render/renderer.ts';
import { Renderings } from './renderings.ts';

const operator = (tag: string) => defaultOperator({ size: 'Evaluation', hub: 'h', tag });
const object = (name: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } });

test('what a forecast lacks is rendered once, and then there at once', async () => {
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
    // One wish may follow from another.
    return first.state === 'pending' ? [first] : [first, renderings.known(operator('bad'))];
  };
  expect(await renderings.repeat(make)).toEqual([
    { state: 'ready', value: [object('1')] },
    { state: 'failed', error: 'it is not installed' },
  ]);
  expect(asked).toEqual(['1', 'bad']);
});

test('manifests of a renderer that knows them are read without a wait', async () => {
  // oxlint-disable-next-line typescript/require-await -- the interface is asynchronous: istioctl is a program
  const renderings = new Renderings({ name: 'test', render: async () => [object('a')] });
  const manifests = renderedManifests(renderings, () => operator('1'));
  // Each time in a world of its own, as a forecast.
  const read = () => new Overlay().read.get(manifests, 'mesh');
  expect(await renderings.repeat(read)).toEqual({ state: 'ready', value: [object('a')] });
});

test('whoever is interrupted is not told that rendering failed', async () => {
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
