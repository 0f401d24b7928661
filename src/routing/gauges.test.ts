import { expect, test } from 'vitest';
import type { Facts } from '../controller/index.ts';
import type { KubeObject } from '../kube/index.ts';
import { meshGauges, ruleGauges } from './gauges.ts';

type Condition = readonly [type: string, status: string];

function object(kind: string, conditions: readonly Condition[], fields: object = {}): KubeObject {
  const status = { conditions: conditions.map(([type, is]) => ({ type, status: is, reason: '', message: '' })) };
  return {
    apiVersion: 'supergloo.solo.io/v1',
    kind,
    metadata: { name: 'a', namespace: 'b' },
    status,
    ...fields,
  } as KubeObject;
}

const READY: readonly Condition[] = [
  ['Accepted', 'True'],
  ['Programmed', 'True'],
  ['Ready', 'True'],
];
const PARTIAL: readonly Condition[] = [
  ['Accepted', 'True'],
  ['Programmed', 'True'],
  ['PartiallyTranslated', 'True'],
  ['Ready', 'False'],
];
const REJECTED: readonly Condition[] = [
  ['Accepted', 'False'],
  ['Ready', 'False'],
];

function values(gauges: typeof ruleGauges, objects: readonly KubeObject[]): Record<string, number> {
  const facts = {
    list: ({ kind }: { kind: string }) => objects.filter((each) => each.kind === kind),
  } as unknown as Facts;
  return Object.fromEntries(
    gauges.flatMap((gauge) =>
      [...gauge.series(facts)].map(({ labels, value }) => [`${gauge.name} ${labels['state']}`, value]),
    ),
  );
}

test('ruleGauges counts rules by state, also states with no rules', () => {
  const all = [READY, READY, PARTIAL, REJECTED, []].map((each) => object('RoutingRule', each));
  expect(values(ruleGauges, all)).toEqual({
    'offshoot_routing_rules Ready': 2,
    'offshoot_routing_rules Degraded': 1,
    'offshoot_routing_rules Pending': 1,
    'offshoot_routing_rules Rejected': 1,
    'offshoot_routing_rules Failed': 0,
    'offshoot_routing_rules Deleting': 0,
  });
});

test('meshGauges counts only meshes of AWS App Mesh', () => {
  const all = [
    object('Mesh', READY, { spec: { awsAppMesh: {} } }),
    object('Mesh', REJECTED, { spec: { awsAppMesh: {} } }),
    object('Mesh', [], { spec: { istio: {} } }),
  ];
  expect(values(meshGauges, all)).toMatchObject({
    'offshoot_routing_meshes Ready': 1,
    'offshoot_routing_meshes Rejected': 1,
    'offshoot_routing_meshes Pending': 0,
  });
});
