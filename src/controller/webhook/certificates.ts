// The certificate of a webhook server, stored in a Secret, so that all replicas and restarts use the same one.
import type { Client } from '../../kube/client/client.ts';
import type { Clock } from '../../kube/clock.ts';
import { isAlreadyExists, isConflict, isNotFound } from '../../kube/errors.ts';
import { defineKind, keyOf } from '../../kube/objects.ts';
import type { KubeObject } from '../../kube/objects.ts';
import type { CertificatePair } from '../../kube/pki.ts';
import { runReflector } from '../../kube/tables/reflector.ts';
import { Table } from '../../kube/tables/table.ts';
import { dueAt, renew } from './certificate-renewal.ts';
import type { CertificateData } from './certificate-renewal.ts';
import { Reconciler } from './reconciler.ts';
import type { Logger } from '../logger.ts';

/** The source of a server's certificate, now and whenever it changes. */
export interface Certificates {
  /** Resolves when there is a certificate. */
  start(): Promise<void>;
  /** The certificate to show. */
  serving(): CertificatePair;
  /** The CA certificates that callers must trust; undefined if others manage them. */
  bundle(): string | undefined;
  /** Calls back when either of them has changed. */
  onChange(listener: () => void): void;
  stop(): Promise<void>;
}

export interface ManagedCertificatesOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly logger: Logger;
  /** The Secret. */
  readonly namespace: string;
  readonly name: string;
  /** Names and addresses under which callers know the server. */
  readonly hosts: readonly string[];
}

interface Secret extends KubeObject {
  readonly type?: string;
  readonly data?: Readonly<Record<string, string>>;
}

const Secret = defineKind<Secret>('v1', 'Secret', 'secrets');

export class ManagedCertificates implements Certificates {
  readonly #options: ManagedCertificatesOptions;
  readonly #table: Table<Secret>;
  readonly #reconciler: Reconciler;
  readonly #stopping = new AbortController();
  readonly #listeners = new Set<() => void>();
  #following: Promise<unknown> = Promise.resolve();
  #current: CertificateData | undefined;

  constructor(options: ManagedCertificatesOptions) {
    const { clock, logger, namespace, name } = options;
    this.#options = options;
    this.#table = new Table(Secret, { namespace, fieldSelector: `metadata.name=${name}` });
    this.#reconciler = new Reconciler({
      clock,
      reconcile: () => this.#reconcile(),
      onError: (err, retryInMs) =>
        logger.warn(
          { err, secret: keyOf({ namespace, name }), retryInMs },
          'reconciling the certificate of the webhook server failed',
        ),
    });
  }

  async start(): Promise<void> {
    const { client, clock, logger } = this.#options;
    const { signal } = this.#stopping;
    const onError = (err: unknown): void => logger.warn({ err }, 'watching the certificate failed, retrying');
    this.#following = Promise.all([
      this.#reconciler.follow(this.#table.map, signal),
      runReflector({ client: client.flow('webhook'), table: this.#table, clock, signal, onError }),
    ]);
    await this.#reconciler.start();
  }

  serving(): CertificatePair {
    if (this.#current === undefined) throw new Error('the certificate was asked for before start()');
    return this.#current;
  }

  bundle(): string | undefined {
    return this.#current?.caPem;
  }

  onChange(listener: () => void): void {
    this.#listeners.add(listener);
  }

  async stop(): Promise<void> {
    await this.#reconciler.stop();
    this.#stopping.abort();
    await this.#following;
  }

  /** The first replica to write wins; the others use what it wrote. */
  async #reconcile(): Promise<number> {
    const { clock, hosts } = this.#options;
    for (;;) {
      const secret = await this.#read();
      // A deleted Secret is restored as it was.
      const held = secret ? dataOf(secret) : this.#current;
      const data = renew(held, hosts, clock.now());
      if ((data !== held || secret === undefined) && !(await this.#write(secret, data))) continue;
      this.#adopt(data);
      return Math.max(dueAt(data) - clock.now(), 0);
    }
  }

  /** Reads from the table if it is there, otherwise from the server, so that the start does not wait for a watch. */
  async #read(): Promise<Secret | undefined> {
    const { client, namespace, name } = this.#options;
    const known = this.#table.get(keyOf({ namespace, name }));
    if (known !== undefined) return known;
    try {
      return await client.flow('webhook').get(Secret, { namespace, name });
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  /** False if another replica wrote first. */
  async #write(before: Secret | undefined, data: CertificateData): Promise<boolean> {
    const { namespace, name, logger } = this.#options;
    const client = this.#options.client.flow('webhook');
    const secret: Secret = {
      ...(before ?? { apiVersion: 'v1', kind: 'Secret', metadata: { namespace, name }, type: 'kubernetes.io/tls' }),
      data: secretData(data),
    };
    try {
      const write = before === undefined ? client.create(Secret, secret) : client.update(Secret, secret);
      this.#table.observe(await write);
      logger.info({ secret: keyOf({ namespace, name }) }, 'issued a certificate for the webhook server');
      return true;
    } catch (error) {
      if (!isAlreadyExists(error) && !isConflict(error)) throw error;
      this.#table.observe(await client.get(Secret, { namespace, name }));
      return false;
    }
  }

  #adopt(data: CertificateData): void {
    const same = this.#current?.certPem === data.certPem && this.#current.caPem === data.caPem;
    this.#current = data;
    if (!same) for (const listener of this.#listeners) listener();
  }
}

const FIELDS = [
  ['tls.crt', 'certPem'],
  ['tls.key', 'keyPem'],
  ['ca.crt', 'caPem'],
  ['ca.key', 'caKeyPem'],
] as const;

function dataOf({ data = {} }: Secret): CertificateData {
  const text = (entry: string): string => Buffer.from(data[entry] ?? '', 'base64').toString('utf8');
  return Object.fromEntries(FIELDS.map(([entry, field]) => [field, text(entry)])) as unknown as CertificateData;
}

function secretData(data: CertificateData): Record<string, string> {
  return Object.fromEntries(FIELDS.map(([entry, field]) => [entry, Buffer.from(data[field]).toString('base64')]));
}
