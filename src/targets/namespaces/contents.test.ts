// What is created in the namespace of a target.
import { expect, test } from 'vitest';
import { DeploymentTargetClass } from '../../api/targets.ts';
import { namespaceParameters } from '../provisioning/parameters.ts';
import { object } from '../testing/planning.ts';
import { limitsOf } from './contents.ts';

test.each([
  [{ default: { cpu: '1' } }, { default: { cpu: '1' }, defaultRequest: { cpu: '1' } }],
  [
    { max: { cpu: '2', memory: '1Gi' }, default: { cpu: '1' }, defaultRequest: { memory: '8Mi' } },
    {
      max: { cpu: '2', memory: '1Gi' },
      default: { cpu: '1', memory: '1Gi' },
      defaultRequest: { cpu: '1', memory: '8Mi' },
    },
  ],
  [{ defaultRequest: { cpu: '10m' } }, { defaultRequest: { cpu: '10m' } }],
])('limitsOf completes %j as the server would store it', (limits, stored) => {
  const spec = { provisioner: 'offshoot.dev/namespace', reclaimPolicy: 'Delete', parameters: { limits } };
  const parameters = namespaceParameters(object(DeploymentTargetClass, 'local', { spec })).value!;
  const limitRange = limitsOf('place', parameters).find(({ kind }) => kind.kind === 'LimitRange');
  expect(limitRange?.object).toHaveProperty('spec.limits', [{ type: 'Container', ...stored }]);
});
