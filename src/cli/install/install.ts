// Installs the control plane: the objects of the chart, applied or printed.
import { readFileSync } from 'node:fs';
import type { Client } from '../../kube/client/client.ts';
import { isNotFound } from '../../kube/errors.ts';
import { apiVersionOf, identityOf } from '../../kube/objects.ts';
import type { AnyObject } from '../../kube/objects.ts';
import { parse } from '../../kube/yaml.ts';
import { failure, invalidFile } from '../exit.ts';
import { withConnection } from '../options.ts';
import type { ClusterOptions } from '../options.ts';
import { nameText, yamlText } from '../terminal/output.ts';
import { version } from '../version/version.ts';
import {
  Definition,
  isOurs,
  kindOf,
  KINDS,
  MANAGED_BY,
  Namespace,
  OURS,
  oursOf,
  refuseOtherInstallation,
} from './installed.ts';
import { SELECTOR } from './installation.ts';
import { manifestsOf } from './manifests.ts';
import { withSets } from './set.ts';
import { parseValues } from './values.ts';

export interface InstallOptions extends ClusterOptions {
  readonly namespace: string;
  readonly set: readonly string[];
  readonly values?: string;
  readonly dryRun?: boolean;
}

export async function install(options: InstallOptions): Promise<void> {
  const objects = objectsOf(options);
  if (options.dryRun) {
    console.log(objects.map(yamlText).join('---\n').trimEnd());
    return;
  }
  await withConnection(options, async ({ client }) => {
    await refuseOtherInstallation(client, options.namespace);
    for (const object of objects) console.log(`${nameText(await applyObject(client, object))} applied`);
    const desired = new Set(objects.map((object) => identityOf(kindOf(object), object.metadata)));
    for (const kind of KINDS) {
      const obsolete = (await oursOf(client, kind)).filter(({ metadata }) => !desired.has(identityOf(kind, metadata)));
      for (const object of obsolete) {
        await client.delete(kind, object.metadata);
        console.log(`${nameText({ ...object, apiVersion: apiVersionOf(kind), kind: kind.kind })} deleted`);
      }
    }
  });
}

function objectsOf({ namespace, set, values: file }: InstallOptions): readonly AnyObject[] {
  const values = withSets(file === undefined ? {} : readValues(file), set);
  const labels = {
    'pod-security.kubernetes.io/enforce': 'restricted',
    [MANAGED_BY]: OURS,
    ...SELECTOR,
  };
  try {
    const installation = { values: parseValues(values), namespace, version: version(), managedBy: OURS };
    return [
      { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace, labels } },
      ...manifestsOf(installation),
    ];
  } catch (error) {
    throw failure('InvalidFlag', (error as Error).message);
  }
}

function readValues(file: string): unknown {
  try {
    return parse(readFileSync(file, 'utf8')) as unknown;
  } catch (error) {
    throw invalidFile(file, (error as Error).message);
  }
}

async function applyObject(client: Client, object: AnyObject): Promise<AnyObject> {
  const kind = kindOf(object);
  const body = kind === Definition || kind === Namespace ? await keepingOwner(client, object) : object;
  try {
    const patch = { type: 'apply', body, force: true } as const;
    await client.patch(kind, object.metadata, patch, { fieldManager: 'offshoot-install' });
    return object;
  } catch (error) {
    if (!isNotFound(error)) throw error;
    throw failure(
      'NotInstalled',
      `the cluster does not know ${kind.plural}.${kind.group}: install what brings it, or disable what needs it`,
    );
  }
}

/** An object that existed before us is updated, but not labelled as ours: an uninstall keeps it. */
async function keepingOwner(client: Client, object: AnyObject): Promise<AnyObject> {
  const live = await client.get(kindOf(object), object.metadata).catch((error: unknown) => {
    if (!isNotFound(error)) throw error;
  });
  if (live === undefined || isOurs(live)) return object;
  const { [MANAGED_BY]: _ours, ...labels } = object.metadata.labels ?? {};
  return { ...object, metadata: { ...object.metadata, labels } };
}
