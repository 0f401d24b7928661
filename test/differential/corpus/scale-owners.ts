// Which field manager owns the replicas when some write the object and others its Scale.
import { ignoringControllers, apply, get, inGroup, patch, post, put, scenario } from '../scenario.ts';
import { install, remove, spec, w, widget, widgets } from './widgets.ts';
import { deployment } from './workload-bodies.ts';

const d = inGroup('apps/v1', 'deployments', 'd');
const scale = (replicas: unknown, metadata: object = {}): object => ({
  apiVersion: 'autoscaling/v1',
  kind: 'Scale',
  metadata,
  spec: replicas === undefined ? {} : { replicas },
});
const by = (manager: string): object => ({ query: { fieldManager: manager } });
const force = { query: { force: 'true' } };
const applied = (replicas: number): object => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'd' },
  spec: { replicas },
});

/** Waits for the controller: its write may come between two steps, and joins entries of the same manager. */
const observed = (generation: number) =>
  get(d, { until: { path: 'status.observedGeneration', is: generation }, only: ['metadata.generation'] });

export const scaleOwners = [
  scenario(
    'field managers of the replicas of a deployment',
    ...ignoringControllers(
      post(inGroup('apps/v1', 'deployments'), deployment('d', { replicas: 2, paused: true })),
      observed(1),
      apply('one', `${d}/scale`, scale(0, { name: 'd' })),
      apply('one', `${d}/scale`, scale(2, { name: 'd' })),
      get(d),
      apply('one', `${d}/scale`, scale(0, { name: 'd' }), force),
      observed(2),
      get(d),
      apply('two', `${d}/scale`, scale(0, { name: 'd' })),
      apply('two', d, applied(0)),
      get(d),
      apply('two', d, applied(1)),
      apply('two', d, applied(1), force),
      observed(3),
      get(d),
      patch('merge', `${d}/scale`, { spec: { replicas: 3 } }, by('three')),
      observed(4),
      get(d),
      patch('merge', `${d}/scale`, { spec: { replicas: 3 } }, by('four')),
      get(d),
      put(`${d}/scale`, scale(0, { name: 'd' }), by('three')),
      observed(5),
      get(d),
      apply('one', `${d}/scale`, scale(undefined, { name: 'd' })),
      apply('one', `${d}/scale`, scale(4)),
      observed(6),
      get(d),
    ),
  ),
  scenario(
    'field managers of the replicas of a custom resource',
    ...install(
      { ...spec({ replicas: { type: 'integer' }, tag: { type: 'string' } }), status: { type: 'object' } },
      { subresources: { scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' } } },
    ),
    post(widgets, widget({ tag: 'a' })),
    get(`${w}/scale`),
    patch('merge', `${w}/scale`, { spec: {} }),
    patch('merge', `${w}/scale`, { spec: { replicas: 1 } }, by('one')),
    get(w),
    patch('merge', w, { spec: { replicas: 2 } }, by('one')),
    apply('two', `${w}/scale`, scale(0, { name: 'w' })),
    // The real server fails when an apply changes the Scale of a custom resource.
    apply('three', w, widget({ replicas: 0 })),
    apply('three', w, widget({ replicas: 5 }), force),
    get(w),
    apply('two', `${w}/scale`, scale(5, { name: 'w' })),
    apply('three', w, widget({ tag: 'b' }), force),
    get(w),
    put(`${w}/scale`, scale(6, { name: 'w', resourceVersion: '1' })),
    put(`${w}/scale`, scale(6, { name: 'w' })),
    get(w),
    ...remove,
  ),
];
