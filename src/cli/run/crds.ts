// `offshoot crds`: prints the definitions of our kinds; `run` and `up` install or require them.
import { Command } from 'commander';
import type { Client } from '../../kube/client/client.ts';
import { delay, systemClock } from '../../kube/clock.ts';
import { isServed } from '../../kube/client/discovery.ts';
import { isForbidden, isNotFound } from '../../kube/errors.ts';
import { defineKind } from '../../kube/objects.ts';
import type { AnyKind } from '../../kube/objects.ts';
import { failure } from '../exit.ts';
import type { Part } from './parts.ts';

const CustomResourceDefinition = defineKind(
  'apiextensions.k8s.io/v1',
  'CustomResourceDefinition',
  'customresourcedefinitions',
  { namespaced: false },
);

const SERVED_TIMEOUT_MS = 30_000;

export function crdsCommand(): Command {
  return new Command('crds')
    .description('print the CustomResourceDefinitions as YAML')
    .addHelpText('after', '\nExample:\n  offshoot crds | kubectl apply -f -')
    .action(async () => {
      const [{ clusterDefinitions }, { stringify }] = await Promise.all([
        import('./definitions.ts'),
        import('../../kube/yaml.ts'),
      ]);
      const documents = clusterDefinitions().kept.map((definition) => stringify(definition, { lineWidth: 0 }));
      console.log(documents.join('---\n').trimEnd());
    });
}

/** Installs or updates the definitions of the parts, and waits until their kinds are served. */
export async function installDefinitions(client: Client, parts: readonly Part[]): Promise<void> {
  const resources = parts.flatMap((part) => part.resources);
  await Promise.all(
    resources.map(({ crd }) =>
      client.patch(
        CustomResourceDefinition,
        crd.metadata,
        { type: 'apply', body: crd, force: true },
        {
          fieldManager: 'offshoot-install',
        },
      ),
    ),
  );
  await Promise.all(resources.map(({ kind }) => untilServed(client, kind)));
}

/** Throws if the cluster does not serve a kind that a part requires. */
export async function requireDefinitions(
  client: Client,
  parts: readonly Part[],
  { namespaces }: { readonly namespaces?: readonly string[] | undefined } = {},
): Promise<void> {
  const resources = parts.flatMap((part) => part.resources);
  // Permissions in single namespaces do not allow cluster-wide lists, but do allow discovery.
  const isThere = namespaces === undefined ? isKnown : isServed;
  const served = await Promise.all(resources.map(({ kind }) => isThere(client, kind)));
  const missing = resources.filter((_resource, index) => !served[index]).map(({ crd }) => crd.metadata.name);
  if (missing.length === 0) return;
  const command = '"offshoot crds | kubectl apply -f -"';
  const advice =
    namespaces === undefined
      ? `install with ${command}, or start with --install-crds`
      : `an administrator installs them with ${command}`;
  throw failure('NotInstalled', `the cluster does not know ${missing.join(', ')}: ${advice}`);
}

/** Whether the cluster has a kind. A 404 may only mean that the server does not serve it yet. */
async function isKnown(client: Client, kind: AnyKind): Promise<boolean> {
  if (await isListed(client, kind)) return true;
  try {
    return await isServed(client, kind);
  } catch (error) {
    // Without permission for discovery, the list decides.
    if (isForbidden(error)) return false;
    throw error;
  }
}

async function isListed(client: Client, kind: AnyKind): Promise<boolean> {
  try {
    await client.list(kind, { limit: 1 });
    return true;
  } catch (error) {
    if (isNotFound(error)) return false;
    throw error;
  }
}

async function untilServed(client: Client, kind: AnyKind): Promise<void> {
  const deadline = systemClock.monotonic() + SERVED_TIMEOUT_MS;
  while (!(await isListed(client, kind))) {
    if (systemClock.monotonic() > deadline)
      throw new Error(`${kind.plural}.${kind.group} was installed but is not served`);
    await delay(systemClock, 50);
  }
}
