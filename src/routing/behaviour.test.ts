// Both App Mesh back ends route requests as the rules say.
import { expect, test } from 'vitest';
import { landingOf } from '../traffic/appmesh/evaluate.ts';
import { meshOfObjects, meshOfResources } from '../traffic/appmesh/mesh.ts';
import type { Mesh } from '../traffic/appmesh/mesh.ts';
import { appMeshApi } from './backends/appmesh-api.ts';
import { appMeshCrd } from './backends/appmesh-crd.ts';
import type { Backend } from './backends/backend.ts';
import type { Snapshot } from './model.ts';
import { behaviourSuite } from './testing/behaviour.ts';
import type { Evaluate } from './testing/behaviour.ts';
import { translate } from './translate.ts';

function evaluator<Output>(backend: Backend<Output>, read: (output: Output) => Mesh, from = 'front-vn') {
  return (snapshot: Snapshot): Evaluate => {
    const [translation] = translate(snapshot, backend, { mode: 'strict', allowAll: true }).meshes;
    const mesh = read(translation!.output!);
    return (request) => {
      const landing = landingOf(mesh, from, request);
      if ('nodes' in landing) return landing.nodes;
      return landing.status === 'unreachable' ? 0 : landing.status;
    };
  };
}

behaviourSuite('appmesh-api', evaluator(appMeshApi, meshOfResources));
behaviourSuite('appmesh-crd', evaluator(appMeshCrd, meshOfObjects));

test('landingOf: a workload reaches only the hosts in its backends', () => {
  const mesh: Mesh = {
    backends: new Map([['a', new Set(['b.svc'])]]),
    services: new Map([
      ['a.svc', { node: 'a' }],
      ['b.svc', { node: 'b' }],
    ]),
    routes: new Map(),
  };
  expect(landingOf(mesh, 'a', { host: 'b.svc', path: '/' })).toEqual({ nodes: { b: 100 } });
  expect(landingOf(mesh, 'a', { host: 'a.svc', path: '/' })).toEqual({ status: 'unreachable' });
});
