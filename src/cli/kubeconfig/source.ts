// Which cluster the flags mean. That of `offshoot up` is found without any configuration: where there is none, or by the
// name of its context.
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

/** How the cluster is reached that the flags mean. Who has none is told how to get one. */
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

/** The configuration that a kubeconfig, or else a pod, has for us. */
export function configFrom(source: LoadOptions): ConnectConfig {
  try {
    return loadConfig(source);
  } catch (error) {
    throw error instanceof NoClusterConfigured ? error : failure('InvalidKubeconfig', messageOf(error));
  }
}

/** Which kubeconfig the flags mean, and which context of it. */
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

/** Whether people, or the pod that this runs in, say which cluster is meant. */
function isConfigured(context: string | undefined, env: NodeJS.ProcessEnv): boolean {
  if (context !== undefined) return readKubeconfig({ env }).contexts.has(context);
  return (
    Boolean(env['KUBECONFIG']) || readKubeconfig({ env }).files.length > 0 || inClusterConfig({ env }) !== undefined
  );
}
