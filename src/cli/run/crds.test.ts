import { expect, test } from 'vitest';
import { apiError, FakeClient } from '../../../test/support/fake-client.ts';
import { requireDefinitions } from './crds.ts';
import { partsOf } from './parts.ts';

const version = 'riskified.com/v1alpha1';
const groups = { kind: 'APIGroupList', groups: [{ versions: [{ groupVersion: version }] }] };
const resources = { kind: 'APIResourceList', resources: [{ name: 'dynamicenvs' }] };

/** A server that answers 404 to the list of environments, and has these discovery answers. */
function server(answers: Readonly<Record<string, unknown>>): FakeClient {
  const client = new FakeClient();
  client.next('list', apiError(404, 'NotFound'));
  client.raw = ({ path }) => {
    const answer = answers[path] ?? apiError(404, 'NotFound');
    return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer as never);
  };
  return client;
}

const required = (client: FakeClient): Promise<void> => requireDefinitions(client, partsOf(['environments']));

test('requireDefinitions fails if the discovery of the server does not list the kind', async () => {
  const missing = 'the cluster does not know dynamicenvs.riskified.com';
  await expect(required(server({ '/apis': { ...groups, groups: [] } }))).rejects.toThrow(missing);
  await expect(required(server({ '/apis': apiError(403, 'Forbidden') }))).rejects.toThrow(missing);
});

test('requireDefinitions does not take a 404 alone for a missing definition', async () => {
  await expect(required(server({ '/apis': groups, [`/apis/${version}`]: resources }))).resolves.toBeUndefined();
  await expect(required(server({}))).rejects.not.toThrow('does not know');
});
