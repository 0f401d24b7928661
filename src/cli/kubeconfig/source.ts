// Finds the cluster that the flags select. The cluster of `offshoot up` needs no configuration: it is used if none is
// configured, or by the name of its context.
import { existsSync } from 'node:fs';
import { inClusterConfig } from '../../kube/client/config/in-cluster.ts';
import type { ConnectConfig } from '../../kube/client/config/config.ts';
import { loadConfig, NoClusterConfigured, readKubeconfig } from '../../kube/client/config/kubeconfig.ts';
import type { LoadOptions } from '../../kube/client/config/kubeconfig.ts';
import { failure, messageOf } from '../exit.ts';
import { kubeconfigOfUp, UP_CONTEXT } from '../up/location.ts';

interface ClusterFlags {
  readonly kubeconfig?: string;
  readonly context?: string;
}

/** The connection of the cluster that the flags select. Without one, the error says how to get one. */
export function configOfCluster(flags: ClusterFlags): ConnectConfig {
  try {
    return configFrom(kubeconfigSource(flags));
  } catch (error) {
    if (!(error instanceof NoClusterConfigured)) throw error;
    const ofUp = kubeconfigOfUp();
    if (flags.context !== undefined && existsSync(ofUp)) {
      const known = [...readKubeconfig({ path: ofUp }).contexts.keys()].join(', ');
      throw failure('InvalidKubeconfig', `there is no context '${flags.context}'; known: ${known} (of "offshoot up")`);
    }
    throw new NoClusterConfigured(`${error.message}, or start a cluster of your own with "offshoot up"`);
  }
}

/** The connection from a kubeconfig, else from the pod's service account. */
export function configFrom(source: LoadOptions): ConnectConfig {
  try {
    return loadConfig(source);
  } catch (error) {
    throw error instanceof NoClusterConfigured ? error : failure('InvalidKubeconfig', messageOf(error));
  }
}

/** The kubeconfig and context that the flags select. */
export function kubeconfigSource(
  { kubeconfig, context }: ClusterFlags,
  env: NodeJS.ProcessEnv = process.env,
): LoadOptions {
  const chosen = {
    env,
    ...(kubeconfig !== undefined && { path: kubeconfig }),
    ...(context !== undefined && { context }),
  };
  const ofUp = kubeconfigOfUp(env);
  const mayBeUp = kubeconfig === undefined && (context === undefined || context === UP_CONTEXT) && existsSync(ofUp);
  return mayBeUp && !isConfigured(context, env) ? { env, path: ofUp } : chosen;
}

/** Whether a kubeconfig, or the pod that this runs in, selects a cluster. */
function isConfigured(context: string | undefined, env: NodeJS.ProcessEnv): boolean {
  if (context !== undefined) return readKubeconfig({ env }).contexts.has(context);
  return (
    Boolean(env['KUBECONFIG']) || readKubeconfig({ env }).files.length > 0 || inClusterConfig({ env }) !== undefined
  );
}
