// Renders with the `istioctl` of the pinned version. It is started without a shell, gets the operator on its standard
// input, and is killed if it takes too long or prints too much. Errors contain its standard error.
import { spawn } from 'node:child_process';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { parseVersion, coreOf } from '../../version/semver.ts';
import { parseManifests } from './manifests.ts';
import type { IstioOperator } from '../operator/operator.ts';
import { RenderError } from './renderer.ts';
import type { Renderer } from './renderer.ts';

export interface IstioctlOptions {
  /** Its path, or a name on PATH. */
  readonly program: string;
  readonly deadlineMs?: number;
  readonly outputLimit?: number;
}

const DEADLINE_MS = 60_000;
/** The manifests of Istio are about one megabyte. */
const OUTPUT_LIMIT = 32 << 20;
const STDERR_LIMIT = 2_000;

/** A renderer that runs istioctl. Its version is checked before the first use. */
export function istioctlRenderer(options: IstioctlOptions): Renderer {
  let version: Promise<string> | undefined;
  return {
    name: `istioctl ${options.program}`,
    async render(operator, signal) {
      version ??= versionOf(options);
      // Checked again next time, as it may be installed by then.
      const found = await version.catch((error: unknown) => {
        version = undefined;
        throw error;
      });
      checkVersion(options, found, operator);
      const output = await run(options, ['manifest', 'generate', '-f', '-'], JSON.stringify(operator), signal);
      return parseManifests(output, () => nextTurn()).catch((error: unknown) => {
        throw error instanceof RenderError ? failed(options, `what it printed: ${error.message}`, error) : error;
      });
    },
  };
}

async function versionOf(options: IstioctlOptions): Promise<string> {
  const output = await run(options, ['version', '--remote=false', '--short'], '');
  const found = /(\d+\.\d+\.\d+\S*)/.exec(output)?.[1];
  if (found === undefined)
    throw failed(options, `it did not print its version: ${JSON.stringify(output.slice(0, 80))}`);
  return found;
}

// The charts are part of the program: another version would install other charts with our images.
function checkVersion(options: IstioctlOptions, found: string, operator: IstioOperator): void {
  const [version, target] = [parseVersion(found), parseVersion(operator.spec.tag)];
  const same = typeof version !== 'string' && typeof target !== 'string' && coreOf(version) === coreOf(target);
  if (!same) throw failed(options, `its version is ${found}, and ${operator.spec.tag} is to be installed`);
}

function run(options: IstioctlOptions, args: string[], input: string, signal?: AbortSignal): Promise<string> {
  const { program, deadlineMs = DEADLINE_MS, outputLimit = OUTPUT_LIMIT } = options;
  return new Promise((resolve, reject) => {
    // It must not connect to any cluster.
    const child = spawn(program, args, {
      env: { ...process.env, KUBECONFIG: '/dev/null' },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    const output: Buffer[] = [];
    let size = 0;
    let stderr = '';
    const end = (what: string, cause?: unknown): void => {
      child.kill('SIGKILL');
      // A child process may keep them open.
      for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy();
      settle(() => reject(failed(options, what, cause)));
    };
    const abort = (): void => end('it is no longer needed');
    const timer = setTimeout(
      () => end(`it did not finish within ${deadlineMs / 1000} s${stderrText(stderr)}`),
      deadlineMs,
    );
    const settle = (how: () => void): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', abort);
      how();
    };
    if (signal?.aborted) return abort();
    signal?.addEventListener('abort', abort);
    child.stdout.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > outputLimit) end(`it printed more than ${outputLimit} bytes`);
      else output.push(chunk);
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr = (stderr + text).slice(-STDERR_LIMIT);
    });
    child.on('error', (error: NodeJS.ErrnoException) => {
      end(error.code === 'ENOENT' ? 'it is not installed' : error.message, error);
    });
    child.on('close', (code, endedBy) => {
      if (code === 0) return settle(() => resolve(Buffer.concat(output).toString('utf8')));
      const how = code === null ? `was ended by ${endedBy}` : `ended with exit code ${code}`;
      settle(() => reject(failed(options, `it ${how}${stderrText(stderr)}`)));
    });
    // A program that does not read its input reports the reason on its standard error.
    child.stdin.on('error', () => {});
    child.stdin.end(input);
  });
}

const stderrText = (stderr: string): string => (stderr.trim() === '' ? '' : `: ${stderr.trim()}`);

function failed({ program }: IstioctlOptions, what: string, cause?: unknown): RenderError {
  return new RenderError(`${program} could not render manifests: ${what}`, { cause });
}
