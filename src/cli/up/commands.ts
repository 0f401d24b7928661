// How the commands of Offshoot are called from another terminal: what is printed and what the dashboard shows can be pasted.
import type { Terminal } from '../../dashboard/index.ts';
import type { Written } from './kubeconfig.ts';
import { kubeconfigOfUp, UP_CONTEXT } from './location.ts';

/** Whether this runs in a checkout, where the command is installed there alone. */
export function isInCheckout(env: NodeJS.ProcessEnv = process.env): boolean {
  return Boolean(env['npm_command']);
}

/** How `offshoot` is called. */
export function offshootCommand(env: NodeJS.ProcessEnv = process.env): string {
  return isInCheckout(env) ? 'npx offshoot' : 'offshoot';
}

type Way = Pick<Written, 'kubeconfig'> & { readonly merged?: { readonly context: string } | undefined };

/** How commands reach the cluster of this process, whatever is configured there. */
export function terminalOf(way: Way, env: NodeJS.ProcessEnv = process.env): Terminal {
  const { kubeconfig, merged } = way;
  const file = `--kubeconfig ${quoted(kubeconfig)}`;
  const context = merged && `--context ${quoted(merged.context)}`;
  // Our own kubeconfig is known to us, and not to kubectl.
  const offshoot = context ?? (kubeconfig === kubeconfigOfUp(env) ? `--context ${UP_CONTEXT}` : file);
  return { offshoot: offshootCommand(env), flags: { offshoot, kubectl: context ?? file } };
}

/** A word as a shell takes it. */
export function quoted(word: string): string {
  return /^[\w./:@%+=,-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}
