// Who we are to the API server, request by request: fixed, from a file that changes, or from a plugin. Called by connect.ts.
import { readFileSync, statSync } from 'node:fs';
import type { ConnectConfig, ExecConfig } from '../config/config.ts';
import { runPlugin } from './exec.ts';

/** What identifies us in one request. The same object as long as nothing changed. */
export interface Credential {
  /** The value of the Authorization header. */
  readonly authorization?: string;
  readonly certPem?: string;
  readonly keyPem?: string;
}

/** A source of credentials. */
export interface Credentials {
  current(): Credential | Promise<Credential>;
  /** The server answered 401 to this one: forget it. Whether another one may come instead. */
  refuse(credential: Credential): boolean;
}

/** The source that the configuration asks for. A plugin comes last, as in kubectl: a token given by hand wins. */
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
  return { current: () => credential, refuse: () => false };
}

/** A token in a file that something else renews, such as the token of a service account. */
class TokenFileCredentials implements Credentials {
  readonly #path: string;
  readonly #certificate: Credential;
  #known: { readonly credential: Credential; readonly mark: string } | undefined;

  constructor(path: string, certificate: Credential) {
    this.#path = path;
    this.#certificate = certificate;
  }

  current(): Credential {
    try {
      const { mtimeMs, size, ino } = statSync(this.#path);
      const mark = `${mtimeMs} ${size} ${ino}`;
      if (this.#known?.mark !== mark) this.#known = { credential: this.#read(), mark };
    } catch (error) {
      // While the file is being replaced it may be missing for a moment; the token that we have is still good.
      if (this.#known === undefined) throw error;
    }
    return this.#known.credential;
  }

  refuse(credential: Credential): boolean {
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

/** What a plugin printed, kept until it expires or the server refuses it. */
class PluginCredentials implements Credentials {
  readonly #config: ExecConfig;
  readonly #certificate: Credential;
  #known: { readonly credential: Credential; readonly expiresAt: number } | undefined;
  /** Requests that come while the plugin runs wait for the same run. */
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

  refuse(credential: Credential): boolean {
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
