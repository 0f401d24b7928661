// Where `offshoot up` leaves the way to its cluster: a kubeconfig of its own and, if asked to, the user's.
import { existsSync, mkdirSync, realpathSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Embedded } from '../../embedded/index.ts';
import { failure } from '../exit.ts';
import type { Merged } from '../kubeconfig/merge.ts';
import { UP_CONTEXT } from './location.ts';
import type { UpOptions } from './command.ts';

export interface Written {
  readonly kubeconfig: string;
  /** Where the cluster is a context of the kubeconfig that kubectl reads. */
  readonly merged?: Merged & { readonly context: string };
}

/** Writes the kubeconfig, and merges it where the options say so. What others have in these files is never lost. */
export async function writeKubeconfig(cluster: Embedded, file: string, options: UpOptions): Promise<Written> {
  const kubeconfig = path.resolve(file);
  const { mergeKubeconfig: context } = options;
  // Only a file that somebody chose can be somebody's; and reading one takes a while.
  const isChosen = options.kubeconfig !== undefined || context !== undefined;
  const others = isChosen && existsSync(kubeconfig) ? await otherContexts(kubeconfig) : [];
  if (context === undefined) {
    if (others.length > 0) {
      throw failure(
        'InUse',
        `--kubeconfig ${file}: it has other contexts (${others.join(', ')}), which would be lost; choose another file, or take "KUBECONFIG=${file} offshoot up --merge-kubeconfig"`,
      );
    }
    write(kubeconfig, cluster);
    return { kubeconfig };
  }
  const { kubeconfigToWrite, mergeKubeconfig } = await import('../kubeconfig/merge.ts');
  const theirs = kubeconfigToWrite(process.env);
  const isSame = isSameFile(theirs, kubeconfig);
  if (!isSame || others.length === 0) write(kubeconfig, cluster);
  // The user's kubeconfig is the one that we write anyway: its current context is the cluster.
  if (isSame && others.length === 0 && context === UP_CONTEXT) {
    return { kubeconfig, merged: { context, file: kubeconfig, undo: async () => {} } };
  }
  const { url: server, caPem, admin } = cluster;
  const { certPem, keyPem } = admin;
  const own = { name: context, server, caPem, certPem, keyPem, pid: process.pid };
  return { kubeconfig, merged: { context, ...(await mergeKubeconfig(own, theirs)) } };
}

function write(file: string, cluster: Embedded): void {
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, cluster.kubeconfig(), { mode: 0o600 });
}

/** The contexts that a kubeconfig has beside ours; none where it is no kubeconfig. */
async function otherContexts(file: string): Promise<readonly string[]> {
  const { readKubeconfig } = await import('../../kube/client/config/kubeconfig.ts');
  try {
    return [...readKubeconfig({ path: file }).contexts.keys()].filter((name) => name !== UP_CONTEXT);
  } catch {
    return [];
  }
}

function isSameFile(one: string, other: string): boolean {
  const real = (file: string): string => (existsSync(file) ? realpathSync(file) : file);
  return real(one) === real(other);
}
