import { expect, onTestFinished, test } from 'vitest';
import { FakeApi } from '../../../test/support/fake-api.ts';
import { FakeClock } from '../../../test/support/fake-clock.ts';
import { until } from '../../../test/support/until.ts';
import { createLogger } from '../logger.ts';
import type { Certificates } from './certificates.ts';
import { ValidatingWebhookConfiguration, WebhookRegistration } from './registration.ts';

const metadata = { name: 'ours' };
const made: ValidatingWebhookConfiguration = {
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: 'ValidatingWebhookConfiguration',
  metadata,
  webhooks: [],
};
const certificates: Certificates = {
  start: async () => undefined,
  serving: () => ({ certPem: '', keyPem: '' }),
  bundle: () => undefined,
  onChange: () => undefined,
  stop: async () => undefined,
};

/** Starts a registration with `existingOnly`. Returns its warnings. */
async function register(api: FakeApi): Promise<readonly string[]> {
  const warnings: string[] = [];
  const registration = new WebhookRegistration({
    client: api,
    clock: new FakeClock(),
    logger: createLogger({ level: 'warn', write: (line) => void warnings.push(line) }),
    certificates,
    configuration: () => ({ ...made, webhooks: [{ name: 'it.example.com' }] }),
    existingOnly: true,
  });
  onTestFinished(() => registration.stop());
  await registration.start();
  return warnings;
}

test('existingOnly updates the configuration of somebody else, and does not recreate it when it is deleted', async () => {
  const api = new FakeApi();
  const stored = (): ValidatingWebhookConfiguration | undefined =>
    api.all(ValidatingWebhookConfiguration).get('ours') as ValidatingWebhookConfiguration | undefined;
  const warnings = await register(api);
  expect(warnings).toHaveLength(1);
  expect(stored()).toBeUndefined();
  await api.create(ValidatingWebhookConfiguration, made);
  await until(() => stored()?.webhooks.length === 1);
  await api.delete(ValidatingWebhookConfiguration, metadata);
  await until(() => warnings.length === 2);
  expect(stored()).toBeUndefined();
});
