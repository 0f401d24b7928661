// Where `offshoot up` keeps its cluster by default, so that commands in another terminal find it.
import { homedir } from 'node:os';
import path from 'node:path';

/** The name of the context of `up`, in its own kubeconfig and in others. */
export const UP_CONTEXT = 'offshoot';

/** The default directory of the cluster's data. */
export function stateDirectory(env: NodeJS.ProcessEnv = process.env): string {
  const state = env['XDG_STATE_HOME'] || path.join(env['HOME'] || homedir(), '.local', 'state');
  return path.resolve(state, 'offshoot');
}

/** The kubeconfig of the cluster in that directory. */
export function kubeconfigOfUp(env: NodeJS.ProcessEnv = process.env): string {
  return path.join(stateDirectory(env), 'kubeconfig');
}
