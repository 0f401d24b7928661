// The certificate of a webhook server from a directory that somebody else manages, such as a mounted Secret.
import { readFileSync, unwatchFile, watchFile } from 'node:fs';
import path from 'node:path';
import { createSecureContext } from 'node:tls';
import type { CertificatePair } from '../../kube/pki.ts';
import type { Certificates } from './certificates.ts';
import type { Logger } from '../logger.ts';

export interface CertificateFilesOptions {
  readonly directory: string;
  readonly logger: Logger;
  /** How often to check for a change. */
  readonly everyMs?: number;
}

/** Reads `tls.crt`, `tls.key` and, if it exists, `ca.crt`; reads them again when they change. */
export class CertificateFiles implements Certificates {
  readonly #options: CertificateFilesOptions;
  readonly #listeners = new Set<() => void>();
  #pair: CertificatePair | undefined;
  #bundle: string | undefined;

  constructor(options: CertificateFilesOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {
    this.#read();
    // By polling: a mounted Secret is replaced by switching a symlink, which watches of single files do not notice.
    for (const file of this.#files()) {
      watchFile(file, { interval: this.#options.everyMs ?? 10_000, persistent: false }, this.#changed);
    }
  }

  serving(): CertificatePair {
    if (this.#pair === undefined) throw new Error('the certificate was asked for before start()');
    return this.#pair;
  }

  bundle(): string | undefined {
    return this.#bundle;
  }

  onChange(listener: () => void): void {
    this.#listeners.add(listener);
  }

  async stop(): Promise<void> {
    for (const file of this.#files()) unwatchFile(file, this.#changed);
  }

  readonly #changed = (): void => {
    const before = this.#pair;
    try {
      this.#read();
    } catch (err) {
      // Perhaps only half of the pair is written: the other half follows and triggers another read.
      this.#options.logger.warn({ err }, 'the changed certificate cannot be used, keeping the old one');
      return;
    }
    if (before?.certPem === this.#pair?.certPem && before?.keyPem === this.#pair?.keyPem) return;
    this.#options.logger.info({ directory: this.#options.directory }, 'reloaded the certificate');
    for (const listener of this.#listeners) listener();
  };

  #read(): void {
    const { directory } = this.#options;
    const pair = { certPem: this.#text('tls.crt'), keyPem: this.#text('tls.key') };
    try {
      createSecureContext({ cert: pair.certPem, key: pair.keyPem });
    } catch (error) {
      throw new Error(`${directory}: tls.crt and tls.key do not match: ${(error as Error).message}`, { cause: error });
    }
    this.#pair = pair;
    try {
      this.#bundle = this.#text('ca.crt');
    } catch {
      this.#bundle = undefined;
    }
  }

  #text(name: string): string {
    return readFileSync(path.join(this.#options.directory, name), 'utf8');
  }

  #files(): string[] {
    return ['tls.crt', 'tls.key', 'ca.crt'].map((name) => path.join(this.#options.directory, name));
  }
}
