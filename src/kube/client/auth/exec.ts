// Credential plugins: a command that prints an ExecCredential. Called by credentials.ts.
import { spawn } from 'node:child_process';
import type { ExecConfig } from '../config/config.ts';

/** What a plugin printed. `expiresAt` is in milliseconds since 1970; without it, valid until the server rejects it. */
export interface ExecCredential {
  readonly token?: string;
  readonly certPem?: string;
  readonly keyPem?: string;
  readonly expiresAt?: number;
}

const maxOutputLength = 1 << 20;
const timeoutMs = 60_000;

/** Runs the plugin and reads its answer. Every failure names the command. */
export async function runPlugin(config: ExecConfig): Promise<ExecCredential> {
  const interactive = config.interactiveMode !== 'Never' && process.stdin.isTTY;
  if (config.interactiveMode === 'Always' && !interactive) {
    throw pluginError(config, 'it must ask the user (interactiveMode: Always), and standard input is not a terminal');
  }
  return readCredential(config, await run(config, interactive));
}

function run(config: ExecConfig, interactive: boolean): Promise<string> {
  const info = {
    apiVersion: config.apiVersion,
    kind: 'ExecCredential',
    spec: { cluster: config.cluster, interactive },
  };
  return new Promise((resolve, reject) => {
    // An interactive plugin needs the terminal; the error output of others goes into the error.
    const child = spawn(config.command, config.args, {
      env: { ...process.env, ...config.env, KUBERNETES_EXEC_INFO: JSON.stringify(info) },
      stdio: [interactive ? 'inherit' : 'ignore', 'pipe', interactive ? 'inherit' : 'pipe'],
      timeout: interactive ? undefined : timeoutMs,
    });
    let output = '';
    let errorOutput = '';
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      if (output.length > maxOutputLength) child.kill();
    });
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      errorOutput = (errorOutput + text).slice(-2000);
    });
    child.on('error', (error: NodeJS.ErrnoException) => {
      const hint = config.installHint === undefined ? '' : `\n${config.installHint}`;
      const what = error.code === 'ENOENT' ? `the command is not installed${hint}` : error.message;
      reject(pluginError(config, what, error));
    });
    child.on('close', (code, signal) => {
      if (code === 0) return resolve(output);
      const how = code === null ? `was ended by ${signal}` : `ended with exit code ${code}`;
      reject(pluginError(config, `${how}${errorOutput === '' ? '' : `: ${errorOutput.trim()}`}`));
    });
  });
}

function readCredential(config: ExecConfig, output: string): ExecCredential {
  const answer = parseAnswer(config, output);
  if (answer.kind !== 'ExecCredential' || answer.apiVersion !== config.apiVersion) {
    const found = `${String(answer.apiVersion)} ${String(answer.kind)}`;
    throw pluginError(config, `it printed ${found}, and ${config.apiVersion} ExecCredential was asked for`);
  }
  const { token, clientCertificateData, clientKeyData, expirationTimestamp } = answer.status ?? {};
  if ((clientCertificateData === undefined) !== (clientKeyData === undefined)) {
    throw pluginError(config, 'status.clientCertificateData and status.clientKeyData must come together');
  }
  if (token === undefined && clientCertificateData === undefined) {
    throw pluginError(config, 'it printed neither status.token nor status.clientCertificateData');
  }
  const expiresAt = expirationTimestamp === undefined ? undefined : Date.parse(expirationTimestamp);
  if (Number.isNaN(expiresAt)) {
    throw pluginError(config, `status.expirationTimestamp is not a time: '${expirationTimestamp}'`);
  }
  return {
    ...(token === undefined ? {} : { token }),
    ...(clientCertificateData === undefined ? {} : { certPem: clientCertificateData }),
    ...(clientKeyData === undefined ? {} : { keyPem: clientKeyData }),
    ...(expiresAt === undefined ? {} : { expiresAt }),
  };
}

interface Answer {
  readonly kind?: unknown;
  readonly apiVersion?: unknown;
  readonly status?: Partial<
    Record<'token' | 'clientCertificateData' | 'clientKeyData' | 'expirationTimestamp', string>
  >;
}

function parseAnswer(config: ExecConfig, output: string): Answer {
  try {
    return (JSON.parse(output) as Answer | null) ?? {};
  } catch (error) {
    throw pluginError(config, `it did not print JSON: ${(error as Error).message}`, error);
  }
}

function pluginError(config: ExecConfig, what: string, cause?: unknown): Error {
  return new Error(`credential plugin '${config.command}': ${what}`, { cause });
}
