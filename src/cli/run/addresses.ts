// The addresses that `offshoot run` listens on: parsing of flags, defaults, and errors.
import { InvalidArgumentError } from 'commander';
import type { Address } from '../../controller/index.ts';
import { failure } from '../exit.ts';

/** Parses `host:port` as Go does: no host means all addresses. */
export function parseAddress(text: string): Address | 'off' {
  if (text === '0') return 'off';
  const match = /^(\[[0-9a-fA-F:.]+\]|[^:]*):(\d+)$/.exec(text);
  if (match === null || Number(match[2]) > 65_535) {
    throw new InvalidArgumentError('An address is host:port, :port for all addresses, or 0 for nowhere.');
  }
  return { host: match[1]!.replace(/^\[|\]$/g, ''), port: Number(match[2]) };
}

export function parsePort(text: string): number {
  const port = Number(text);
  if (/^\d+$/.test(text) && port <= 65_535) return port;
  throw new InvalidArgumentError('A port is a whole number from 0 to 65535.');
}

/** The default address: all addresses in a pod, which others must reach; loopback elsewhere. */
export function defaultAddress(port: number, env: NodeJS.ProcessEnv = process.env): Address {
  return { host: env['KUBERNETES_SERVICE_HOST'] ? '' : '127.0.0.1', port };
}

/** Adds the name of the flag to an error of listening on its address; returns other errors unchanged. */
export function withFlagName(error: unknown, flags: Readonly<Record<string, Address | 'off' | undefined>>): unknown {
  const { code, syscall, port, hostname, message } = error as NodeJS.ErrnoException & {
    readonly port?: number;
    readonly hostname?: string;
  };
  const matches = (address: Address | 'off' | undefined): boolean =>
    address !== undefined &&
    address !== 'off' &&
    ((syscall === 'listen' && address.port === port) || (syscall === 'getaddrinfo' && address.host === hostname));
  const names = Object.keys(flags).filter((flag) => matches(flags[flag]));
  if (names.length === 0) return error;
  const problem = code === 'EADDRINUSE' ? `port ${port} is in use; choose another one` : message;
  return failure(code === 'EADDRINUSE' ? 'PortInUse' : 'InvalidFlag', `${names.join(' and ')}: ${problem}`);
}
