import { describe, expect, test } from 'vitest';
import type { DynamicEnv, Subset } from '../../api/dynamicenv.ts';
import { withImage } from './set-image.ts';

const cart: Subset = {
  name: 'cart',
  namespace: 'shop',
  replicas: 2,
  containers: [{ containerName: 'app', image: 'cart:2', env: [{ name: 'A', value: '1' }] }],
  initContainers: [{ containerName: 'init', image: 'init:1' }],
};
const two: Subset = {
  name: 'two',
  namespace: 'shop',
  containers: [{ containerName: 'a', image: 'a:1' }, { containerName: 'b' }],
};
const env: DynamicEnv = {
  apiVersion: 'riskified.com/v1alpha1',
  kind: 'DynamicEnv',
  metadata: { name: 'pr-7', namespace: 'shop' },
  spec: { key: 'pr-7', subsets: [cart, { ...cart, namespace: 'depot' }], consumers: [two] },
};

describe('withImage', () => {
  test('changes only the image', () => {
    expect(withImage(env, 'shop/cart=cart:3').spec).toEqual({
      ...env.spec,
      subsets: [
        { ...cart, containers: [{ containerName: 'app', image: 'cart:3', env: [{ name: 'A', value: '1' }] }] },
        { ...cart, namespace: 'depot' },
      ],
    });
    expect(withImage(env, 'two:b=b:2').spec.consumers).toEqual([
      {
        ...two,
        containers: [
          { containerName: 'a', image: 'a:1' },
          { containerName: 'b', image: 'b:2' },
        ],
      },
    ]);
    expect(withImage(env, 'depot/cart:init=init:2').spec.subsets[1]!.initContainers).toEqual([
      { containerName: 'init', image: 'init:2' },
    ]);
  });

  test.each([
    ['crt=c', 'environment shop/pr-7 has no Deployment crt; it has shop/cart, depot/cart, shop/two'],
    ['cart=c', 'there are several: name the namespace too, as shop/cart=c'],
    ['two=c', 'the environment has more than one container of shop/two; name one of a, b, as two:a=…'],
    ['two:x=c', 'the environment has no container x of shop/two; name one of a, b, as two:a=…'],
    ['two', 'the image is missing'],
  ])('rejects %s', (text, message) => {
    expect(() => withImage(env, text)).toThrow(`IMAGE "${text}": ${message}`);
  });
});
