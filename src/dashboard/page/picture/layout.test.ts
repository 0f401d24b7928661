import { expect, test } from 'vitest';
import type { Picture, PictureEdge, PictureNode } from '../../data.ts';
import { layoutOf, NODE } from './layout.ts';

const node = (id: string, cloneOf?: string): PictureNode => ({
  id,
  kind: 'workload',
  label: id,
  namespace: 'shop',
  detail: '',
  isOnPath: false,
  ...(cloneOf !== undefined && { cloneOf }),
});
const edge = (from: string, to: string): PictureEdge => ({ from, to, on: 'base', host: to, rule: '' });

function placed(picture: Pick<Picture, 'nodes' | 'edges'>) {
  const { nodes } = layoutOf({ ...picture, notes: [] });
  return new Map(nodes.map((each) => [each.id, each]));
}

test('layoutOf places callees to the right of callers, and a clone right below its base', () => {
  const at = placed({
    nodes: [node('web'), node('cart'), node('cart-pr-7', 'cart'), node('db')],
    edges: [edge('web', 'cart'), edge('web', 'cart-pr-7'), edge('cart', 'db'), edge('web', 'db')],
  });
  const x = (id: string): number => at.get(id)!.x;
  expect(x('web')).toBeLessThan(x('cart'));
  expect(x('cart')).toBeLessThan(x('db'));
  expect(at.get('cart-pr-7')!.y - at.get('cart')!.y).toBeLessThan(NODE.height + 24);
});

test('layoutOf places the nodes of a call cycle, no two at the same position', () => {
  const at = placed({
    nodes: [node('a'), node('b'), node('c')],
    edges: [edge('a', 'b'), edge('b', 'c'), edge('c', 'a'), edge('b', 'b')],
  });
  expect(new Set([...at.values()].map(({ x, y }) => `${x} ${y}`)).size).toBe(3);
});
