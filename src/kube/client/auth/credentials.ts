// The credentials of requests: fixed, from a file that may change, or from an exec plugin. Called by connect.ts.
import { readFileSync, statSync } from 'node:fs';
import type { ConnectConfig, ExecConfig } from '../config/config.ts';
import { runPlugin } from './exec.ts';

/** The credential of one request; the same object until it changes. */
export interface Credential {
  /** The value of the Authorization header. */
  readonly authorization?: string;
  readonly certPem?: string;
  readonly keyPem?: string;
}

/** A source of credentials. */
export interface Credentials {
  current(): Credential | Promise<Credential>;
  /** Drops a credential that the server answered with 401. Returns whether there may be another one. */
  invalidate(credential: Credential): boolean;
}

/** The source that the configuration names. A plugin comes last, as in kubectl: a given token takes precedence. */
export function credentialsOf(config: ConnectConfig): Credentials {
  const certificate: Credential = {
    ...(config.certPem === undefined ? {} : { certPem: config.certPem }),
    ...(config.keyPem === undefined ? {} : { keyPem: config.keyPem }),
  };
  if (config.tokenFile !== undefined) return new TokenFileCredentials(config.tokenFile, certificate);
  if (config.token !== undefined) return fixed({ ...certificate, authorization: `Bearer ${config.token}` });
  if (config.username !== undefined) {
    const pair = Buffer.from(`${config.username}:${config.password ?? ''}`).toString('base64');
    return fixed({ ...certificate, authorization: `Basic ${pair}` });
  }
  return config.exec === undefined ? fixed(certificate) : new PluginCredentials(config.exec, certificate);
}

function fixed(credential: Credential): Credentials {
  return { current: () => credential, invalidate: () => false };
}

/** A token in a file that another process renews, such as the token of a service account. */
class TokenFileCredentials implements Credentials {
  readonly #path: string;
  readonly #certificate: Credential;
  #known: { readonly credential: Credential; readonly fileStamp: string } | undefined;

  constructor(path: string, certificate: Credential) {
    this.#path = path;
    this.#certificate = certificate;
  }

  current(): Credential {
    try {
      const { mtimeMs, size, ino } = statSync(this.#path);
      const fileStamp = `${mtimeMs} ${size} ${ino}`;
      if (this.#known?.fileStamp !== fileStamp) this.#known = { credential: this.#read(), fileStamp };
    } catch (error) {
      // The file may be missing for a moment while it is replaced; the token that we have is still valid.
      if (this.#known === undefined) throw error;
    }
    return this.#known.credential;
  }

  invalidate(credential: Credential): boolean {
    this.#known = undefined;
    return this.current().authorization !== credential.authorization;
  }

  #read(): Credential {
    const token = readFileSync(this.#path, 'utf8').trim();
    if (token === '') throw new Error(`token file ${this.#path} is empty`);
    const authorization = `Bearer ${token}`;
    const known = this.#known?.credential;
    return known?.authorization === authorization ? known : { ...this.#certificate, authorization };
  }
}

/** Credentials of a plugin, cached until they expire or the server rejects them. */
class PluginCredentials implements Credentials {
  readonly #config: ExecConfig;
  readonly #certificate: Credential;
  #known: { readonly credential: Credential; readonly expiresAt: number } | undefined;
  /** Requests that arrive while the plugin runs wait for the same run. */
  #running: Promise<Credential> | undefined;

  constructor(config: ExecConfig, certificate: Credential) {
    this.#config = config;
    this.#certificate = certificate;
  }

  current(): Credential | Promise<Credential> {
    if (this.#known !== undefined && Date.now() < this.#known.expiresAt) return this.#known.credential;
    this.#running ??= this.#run().finally(() => (this.#running = undefined));
    return this.#running;
  }

  invalidate(credential: Credential): boolean {
    if (this.#known?.credential === credential) this.#known = undefined;
    return true;
  }

  async #run(): Promise<Credential> {
    const { token, expiresAt, ...certificate } = await runPlugin(this.#config);
    const credential: Credential = {
      ...this.#certificate,
      ...certificate,
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    };
    this.#known = { credential, expiresAt: expiresAt ?? Infinity };
    return credential;
  }
}
