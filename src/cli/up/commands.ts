// How commands are called from another terminal, so that printed commands and those of the dashboard can be pasted.
import type { Terminal } from '../../dashboard/index.ts';
import type { Written } from './kubeconfig.ts';
import { kubeconfigOfUp, UP_CONTEXT } from './location.ts';

/** Whether this runs in a checkout, where the command is only installed locally. */
export function isInCheckout(env: NodeJS.ProcessEnv = process.env): boolean {
  return Boolean(env['npm_command']);
}

/** How `offshoot` is called. */
export function offshootCommand(env: NodeJS.ProcessEnv = process.env): string {
  return isInCheckout(env) ? 'npx offshoot' : 'offshoot';
}

type ClusterAccess = Pick<Written, 'kubeconfig'> & { readonly merged?: { readonly context: string } | undefined };

/** How commands reach the cluster of this process, whatever the terminal's configuration. */
export function terminalOf(access: ClusterAccess, env: NodeJS.ProcessEnv = process.env): Terminal {
  const { kubeconfig, merged } = access;
  const file = `--kubeconfig ${quoted(kubeconfig)}`;
  const context = merged && `--context ${quoted(merged.context)}`;
  // `offshoot` finds its own kubeconfig; kubectl does not.
  const offshoot = context ?? (kubeconfig === kubeconfigOfUp(env) ? `--context ${UP_CONTEXT}` : file);
  return { offshoot: offshootCommand(env), flags: { offshoot, kubectl: context ?? file } };
}

/** A word, quoted for a shell if necessary. */
export function quoted(word: string): string {
  return /^[\w./:@%+=,-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}
