import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import type { RoutingRule } from '../../api/routing.ts';
import type { ObjectReader } from '../../api/description/reader.ts';
import type { TreeNode } from '../../api/description/tree.ts';
import type { KubeObject } from '../../kube/index.ts';
import { describeRule } from './rule.ts';
import { parseObjects } from '../../../test/support/parse-objects.ts';

const SHOP = parseObjects(readFileSync(path.join(import.meta.dirname, '../testdata/worlds/shop.yaml'), 'utf8'));

function ruleFor(upstreams: readonly (readonly [name: string, weight: number])[], status?: object): RoutingRule {
  return {
    apiVersion: 'supergloo.solo.io/v1',
    kind: 'RoutingRule',
    metadata: { name: 'cart', namespace: 'shop' },
    spec: {
      targetMesh: { name: 'store', namespace: 'mesh-system' },
      destinationSelector: { upstreamSelector: { upstreams: [{ name: 'shop-cart-8080', namespace: 'gloo-system' }] } },
      requestMatchers: [{ prefix: '/', methods: ['GET', 'POST'] }],
      spec: {
        trafficShifting: {
          destinations: {
            destinations: upstreams.map(([name, weight]) => ({
              destination: { upstream: { name, namespace: 'gloo-system' } },
              weight,
            })),
          },
        },
      },
    },
    ...(status && { status }),
  };
}

function treeOf(rule: RoutingRule, objects: readonly KubeObject[] = SHOP): TreeNode {
  const all: readonly KubeObject[] = [...objects, rule];
  const read = {
    get: () => undefined,
    list: ({ kind, group }) =>
      all.filter(
        (each) => each.kind === kind && (each.apiVersion.split('/')[1] ? each.apiVersion.split('/')[0] : '') === group,
      ),
  } as ObjectReader;
  return describeRule(read, rule).tree;
}

/** A tree as lines, indented by two spaces per level. */
function linesOf({ kind, name, state, reasons = [], children = [] }: TreeNode, indent = ''): string[] {
  return [
    `${indent}${kind} ${name} ${state}`,
    ...reasons.map((reason) => `${indent}  ! ${reason}`),
    ...children.flatMap((child) => linesOf(child, `${indent}  `)),
  ];
}

const READY = {
  state: 1,
  conditions: [
    { type: 'Accepted', status: 'True' },
    { type: 'Ready', status: 'True' },
  ],
};

describe('the tree of a rule', () => {
  test('shows its routes and their destinations', () => {
    const lines = linesOf(
      treeOf(
        ruleFor(
          [
            ['shop-cart-8080', 3],
            ['shop-cart-v2-8080', 1],
          ],
          READY,
        ),
      ),
    );
    expect(lines).toEqual([
      'RoutingRule shop/cart Ready',
      '  Mesh mesh-system/store Pending',
      '    ! HOST_NO_CATCH_ALL: no route of host cart.shop.svc.cluster.local matches everything: other requests are answered with 404; add a matcher with prefix /',
      '    VirtualService cart.shop.svc.cluster.local port 8080',
      '      Route cart-shop-svc-cluster-local-0 {"prefix":"/","method":"GET"}',
      '        VirtualNode cart-v1-vn 75 %',
      '        VirtualNode cart-v2-vn 25 %',
      '      Route cart-shop-svc-cluster-local-1 {"prefix":"/","method":"POST"}',
      '        VirtualNode cart-v1-vn 75 %',
      '        VirtualNode cart-v2-vn 25 %',
    ]);
  });

  test('says why the rule is rejected, and that no controller has seen it yet', () => {
    const lines = linesOf(treeOf(ruleFor([['nowhere', 1]])));
    expect(lines).toEqual([
      'RoutingRule shop/cart Pending',
      '  ! no controller has looked at it yet: check that "offshoot run --controllers routing" runs for this cluster',
      '  Mesh mesh-system/store Pending',
      '    ! SHIFT_UPSTREAM_NOT_FOUND: destination gloo-system.nowhere of routing rule shop.cart does not exist or matches no injected pods',
    ]);
  });

  test('says that its mesh does not exist', () => {
    const lines = linesOf(treeOf(ruleFor([['shop-cart-8080', 1]], READY), SHOP.slice(1)));
    expect(lines[1]).toContain('TARGET_MESH_NOT_FOUND');
  });

  test('includes the problems in the status of the mesh', () => {
    const blocked = {
      conditions: [
        { type: 'Accepted', status: 'True' },
        { type: 'Programmed', status: 'False', reason: 'DELETION_BLOCKED', message: 'DELETION_BLOCKED: too much' },
      ],
    };
    const [mesh, ...others] = SHOP;
    const tree = treeOf(ruleFor([['shop-cart-8080', 1]], READY), [
      { ...mesh!, status: blocked } as KubeObject,
      ...others,
    ]);
    expect(tree.children?.[0]?.reasons).toContain('DELETION_BLOCKED: too much');
  });
});
