// How to reach an API server and authenticate to it. Created by kubeconfig.ts and in-cluster.ts; read by connect.ts.

export interface ConnectConfig {
  /** The URL of the API server; its path is the prefix of every request path. */
  readonly server: string;
  /** The namespace that the context names, for callers that need a default; the client itself never uses it. */
  readonly namespace?: string;
  /** The CA certificates to trust; by default those that Node trusts. */
  readonly caPem?: string;
  readonly insecureSkipTlsVerify?: boolean;
  /** The name to expect in the server's certificate, if it is not the host of the URL. */
  readonly tlsServerName?: string;
  /** An http or https proxy, used by CONNECT. */
  readonly proxyUrl?: string;
  readonly certPem?: string;
  readonly keyPem?: string;
  readonly token?: string;
  /** A file with the token, read again whenever it changes; takes precedence over `token`. */
  readonly tokenFile?: string;
  readonly username?: string;
  readonly password?: string;
  readonly exec?: ExecConfig;
  readonly impersonate?: Impersonation;
}

/** A command that prints credentials. */
export interface ExecConfig {
  readonly apiVersion: 'client.authentication.k8s.io/v1' | 'client.authentication.k8s.io/v1beta1';
  readonly command: string;
  readonly args: readonly string[];
  /** Added to the environment of this process. */
  readonly env: Readonly<Record<string, string>>;
  /** Shown to a user who does not have the command. */
  readonly installHint?: string;
  readonly interactiveMode: 'Never' | 'IfAvailable' | 'Always';
  /** Present if the command asks for cluster information. */
  readonly cluster?: Readonly<Record<string, unknown>>;
}

/** Act as another user; needs the permission to impersonate. */
export interface Impersonation {
  readonly user: string;
  readonly uid?: string;
  readonly groups?: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}
