// Keeps a ValidatingWebhookConfiguration as desired, above all its CA bundle: when somebody changes it, and when the
// certificates change.
import { Applier } from '../../kube/write/apply.ts';
import type { Client } from '../../kube/client/client.ts';
import type { Clock } from '../../kube/clock.ts';
import { isNotFound } from '../../kube/errors.ts';
import { defineKind } from '../../kube/objects.ts';
import type { JsonObject, Kind, KubeObject } from '../../kube/objects.ts';
import { own } from '../../kube/write/steps.ts';
import { defineTable, Tables } from '../../kube/tables/tables.ts';
import type { Certificates } from './certificates.ts';
import { Reconciler } from './reconciler.ts';
import type { Logger } from '../logger.ts';

export interface ValidatingWebhookConfiguration extends KubeObject {
  readonly webhooks: readonly ({
    readonly matchConditions?: readonly { readonly name: string; readonly expression: string }[];
  } & Readonly<Record<string, unknown>>)[];
}

export const ValidatingWebhookConfiguration = defineKind<ValidatingWebhookConfiguration>(
  'admissionregistration.k8s.io/v1',
  'ValidatingWebhookConfiguration',
  'validatingwebhookconfigurations',
  { namespaced: false },
);

/** How the API server reaches a webhook server. */
export type WebhookAddress =
  | { readonly service: { readonly namespace: string; readonly name: string; readonly port?: number } }
  /** The URL of the server, without a path. */
  | { readonly url: string };

/** The `clientConfig` of a webhook. Without a bundle, the one that somebody else manages is kept. */
export function clientConfigOf(address: WebhookAddress, path: string, bundle: string | undefined): JsonObject {
  const caBundle = bundle === undefined ? {} : { caBundle: Buffer.from(bundle).toString('base64') };
  if ('url' in address) return { url: `${address.url}${path}`, ...caBundle };
  return { service: { port: 443, ...address.service, path }, ...caBundle };
}

export interface WebhookRegistrationOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly certificates: Certificates;
  /** The configuration for a CA bundle. */
  readonly configuration: (bundle: string | undefined) => ValidatingWebhookConfiguration;
  /** Only updates a configuration that somebody else has created: if it is deleted, it is not created again. */
  readonly existingOnly?: boolean;
}

export class WebhookRegistration {
  readonly #options: WebhookRegistrationOptions;
  readonly #kind: Kind<ValidatingWebhookConfiguration>;
  readonly #tables: Tables;
  readonly #applier: Applier;
  readonly #reconciler: Reconciler;
  readonly #stopping = new AbortController();
  #following: Promise<unknown> = Promise.resolve();

  constructor(options: WebhookRegistrationOptions) {
    const { client, clock, logger, certificates } = options;
    const { name } = options.configuration(undefined).metadata;
    this.#options = options;
    this.#kind = defineTable(ValidatingWebhookConfiguration, { fieldSelector: `metadata.name=${name}` });
    this.#tables = new Tables([this.#kind]);
    this.#applier = new Applier({ client: client.flow('webhook'), tables: this.#tables, manager: 'offshoot-webhook' });
    this.#reconciler = new Reconciler({
      clock,
      reconcile: () => this.#reconcile(),
      onError: (err, retryInMs) =>
        logger.warn({ err, configuration: name, retryInMs }, 'registering the webhook failed'),
    });
    certificates.onChange(() => this.#reconciler.wake());
  }

  /** Resolves when the configuration is as desired for the first time. */
  async start(): Promise<void> {
    const { client, clock, logger } = this.#options;
    const { signal } = this.#stopping;
    const onError = (_table: unknown, err: unknown): void =>
      logger.warn({ err }, 'watching the webhook configuration failed, retrying');
    this.#following = Promise.all([
      this.#reconciler.follow(this.#tables.of(this.#kind).map, signal),
      this.#tables.run({ client, clock, signal, onError }),
    ]);
    await this.#tables.whenSynced(signal).catch(() => {});
    if (!signal.aborted) await this.#reconciler.start();
  }

  /** Stops managing it. With `remove`, also deletes it, because nobody answers at its address any longer. */
  async stop({ remove = false }: { remove?: boolean } = {}): Promise<void> {
    await this.#reconciler.stop();
    this.#stopping.abort();
    await this.#following;
    if (!remove) return;
    const { client, configuration } = this.#options;
    await removeConfiguration(client, configuration(undefined).metadata.name);
  }

  async #reconcile(): Promise<undefined> {
    const { certificates, configuration, existingOnly = false, logger } = this.#options;
    const object = configuration(certificates.bundle());
    if (existingOnly && this.#tables.of(this.#kind).get(object.metadata.name) === undefined) {
      logger.warn({ configuration: object.metadata.name }, 'the webhook is not registered: this object does not exist');
      return undefined;
    }
    const [outcome] = await this.#applier.apply([own(this.#kind, object)]);
    if (outcome?.did !== 'nothing') logger.info({ configuration: object.metadata.name }, 'registered the webhook');
    return undefined;
  }
}

/** Deletes a configuration if it exists. */
export async function removeConfiguration(client: Client, name: string): Promise<void> {
  try {
    await client.delete(ValidatingWebhookConfiguration, { name });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}
