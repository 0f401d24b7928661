// Writes the kubeconfig of `offshoot up`, and with --merge-kubeconfig also adds the cluster to the user's.
import { existsSync, mkdirSync, realpathSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Embedded } from '../../embedded/index.ts';
import { failure } from '../exit.ts';
import type { Merged } from '../kubeconfig/merge.ts';
import { UP_CONTEXT } from './location.ts';
import type { UpOptions } from './command.ts';

export interface Written {
  readonly kubeconfig: string;
  /** The context in the user's kubeconfig. */
  readonly merged?: Merged & { readonly context: string };
}

/** Writes the kubeconfig, and merges it with --merge-kubeconfig. Other entries in these files are never lost. */
export async function writeKubeconfig(cluster: Embedded, file: string, options: UpOptions): Promise<Written> {
  const kubeconfig = path.resolve(file);
  const { mergeKubeconfig: context } = options;
  // Only a file that the user chose can have other contexts; reading it takes a while.
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
  const userKubeconfig = kubeconfigToWrite(process.env);
  const isSame = isSameFile(userKubeconfig, kubeconfig);
  if (!isSame || others.length === 0) write(kubeconfig, cluster);
  // The user's kubeconfig is the file that we write anyway: its current context is the cluster.
  if (isSame && others.length === 0 && context === UP_CONTEXT) {
    return { kubeconfig, merged: { context, file: kubeconfig, undo: async () => {} } };
  }
  const { url: server, caPem, admin } = cluster;
  const { certPem, keyPem } = admin;
  const own = { name: context, server, caPem, certPem, keyPem, pid: process.pid };
  return { kubeconfig, merged: { context, ...(await mergeKubeconfig(own, userKubeconfig)) } };
}

function write(file: string, cluster: Embedded): void {
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, cluster.kubeconfig(), { mode: 0o600 });
}

/** The other contexts of a kubeconfig; none if it is invalid. */
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
