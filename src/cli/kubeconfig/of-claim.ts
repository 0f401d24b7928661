// Prepares the kubeconfig of a claim's Secret for users: names its entries after the claim, and updates its address.
import { parseDocument } from 'yaml';
import type { Document } from 'yaml';
import type { ConnectConfig } from '../../kube/client/config/config.ts';

/**
 * Renames the current context, its cluster and its user. A kubeconfig that can't be parsed is returned unchanged: its
 * reader will report why.
 */
export function kubeconfigForClaim(text: string, name: string, ours: ConnectConfig): string {
  const document = parseDocument(text);
  const current = document.errors.length === 0 ? document.get('current-context') : undefined;
  const context = entryOf(document, 'contexts', current);
  if (context === undefined) return text;
  const part = (list: 'clusters' | 'users', field: 'cluster' | 'user'): void => {
    const reference = [...context, 'context', field];
    const entry = entryOf(document, list, document.getIn(reference));
    // An entry that other contexts use too keeps its name.
    if (entry === undefined || usesOf(document, field, document.getIn(reference)) > 1) return;
    if (list === 'clusters') updateAddress(document, [...entry, 'cluster'], ours);
    document.setIn([...entry, 'name'], name);
    document.setIn(reference, name);
  };
  part('clusters', 'cluster');
  part('users', 'user');
  document.setIn([...context, 'name'], name);
  document.set('current-context', name);
  return document.toString({ lineWidth: 0 });
}

type Path = readonly (string | number)[];

/** The path of a named entry. */
function entryOf(document: Document, list: string, name: unknown): Path | undefined {
  const entries = (document.toJS() as Record<string, unknown> | null)?.[list];
  if (typeof name !== 'string' || !Array.isArray(entries)) return undefined;
  const index = entries.findIndex((entry: { name?: unknown } | null) => entry?.name === name);
  return index < 0 ? undefined : [list, index];
}

function usesOf(document: Document, field: string, name: unknown): number {
  const { contexts } = document.toJS() as { contexts: readonly ({ context?: Record<string, unknown> } | null)[] };
  return contexts.filter((entry) => entry?.context?.[field] === name).length;
}

/** A local cluster may have another port after a restart; its CA shows that it is the same cluster. */
function updateAddress(document: Document, cluster: Path, ours: ConnectConfig): void {
  const server = document.getIn([...cluster, 'server']);
  const authority = document.getIn([...cluster, 'certificate-authority-data']);
  if (typeof server !== 'string' || typeof authority !== 'string' || ours.caPem === undefined) return;
  const isSame = Buffer.from(authority, 'base64').toString('utf8').trim() === ours.caPem.trim();
  if (isSame && isLoopback(server) && isLoopback(ours.server)) document.setIn([...cluster, 'server'], ours.server);
}

function isLoopback(server: string): boolean {
  return /^(127\.|localhost$|\[::1\]$)/.test(URL.parse(server)?.hostname ?? '');
}
