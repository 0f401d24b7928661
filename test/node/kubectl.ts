// kubectl on the real node, as a person would use it.
import { execFile } from 'node:child_process';
import path from 'node:path';
import { stringifyJson } from '../../src/kube/json.ts';
import { kubernetes } from '../programs/kubernetes.ts';
import { programsOf } from '../programs/programs.ts';

/**
 * Resolves with the standard output; rejects with the standard error. An object as input is written as JSON; with a
 * promise, standard input is closed when it settles.
 */
export type Kubectl = (args: readonly string[], input?: unknown) => Promise<string>;

export function kubectlFor(kubeconfigPath: string): Kubectl {
  const program = path.join(programsOf(kubernetes), 'kubectl');
  return (args, input) =>
    new Promise((resolve, reject) => {
      const all = [
        '--kubeconfig',
        kubeconfigPath,
        '--cache-dir',
        path.join(path.dirname(kubeconfigPath), 'kubectl'),
        ...args,
      ];
      const child = execFile(program, all, { maxBuffer: 2 ** 26 }, (error, out, stderr) => {
        if (error === null) resolve(out);
        else reject(new Error(`kubectl ${args.join(' ')}: ${stderr.trim() || error.message}`));
      });
      const end = (): void => void child.stdin?.end(textOf(input));
      if (input instanceof Promise) void input.then(end, end);
      else end();
    });
}

/** Applies objects in one request. */
export async function apply(kubectl: Kubectl, ...items: object[]): Promise<void> {
  await kubectl(['apply', '--server-side', '-f', '-'], { apiVersion: 'v1', kind: 'List', items });
}

function textOf(input: unknown): string {
  if (typeof input === 'string') return input;
  return input === undefined || input instanceof Promise ? '' : stringifyJson(input);
}
