// Carries out the moves of a scenario: with kubectl, as a user would, or with a client in this process where hundreds
// of runs must be fast.
import { execFile } from 'node:child_process';
import type { Client } from '../../src/kube/client/client.ts';
import { isNotFound } from '../../src/kube/errors.ts';
import { parseJson, stringifyJson } from '../../src/kube/json.ts';
import { defineKind } from '../../src/kube/objects.ts';
import type { AnyObject, Kind } from '../../src/kube/objects.ts';
import { kubernetes } from '../programs/kubernetes.ts';
import { findPrograms } from '../programs/programs.ts';
import { findObject } from '../support/find-object.ts';
import { difference } from './difference.ts';
import { poll } from './poll.ts';

export interface ClusterActions {
  apply(objects: readonly AnyObject[]): Promise<void>;
  patch(object: AnyObject): Promise<void>;
  /** Patches the status. */
  status(object: AnyObject): Promise<void>;
  /** Deletes objects, and waits until they are gone. */
  delete(objects: readonly AnyObject[]): Promise<void>;
  /** Deletes objects without waiting. */
  deleting(objects: readonly AnyObject[]): Promise<void>;
  /** Resolves when the condition (`condition=Ready`) holds. */
  wait(object: AnyObject, condition: string): Promise<void>;
  /** Those of the objects that exist. */
  get(objects: readonly AnyObject[]): Promise<readonly AnyObject[]>;
  /** All objects with the kind and namespace of this one. */
  list(like: AnyObject): Promise<readonly AnyObject[]>;
}

const DEADLINE_S = 40;

/** The kubectl of the test cluster's version if it was fetched, else the one in the PATH. */
function kubectlProgram(): string {
  const found = findPrograms(kubernetes, ['kubectl']);
  return 'dir' in found ? `${found.dir}/kubectl` : 'kubectl';
}

/** Uses kubectl, with its discovery cache in `cacheDir`. */
export function kubectl(kubeconfigPath: string, cacheDir: string): ClusterActions {
  const program = kubectlProgram();
  const run = (args: readonly string[], input: unknown): Promise<string> =>
    new Promise((resolve, reject) => {
      const all = ['--kubeconfig', kubeconfigPath, '--cache-dir', cacheDir, ...args];
      const options = { maxBuffer: 2 ** 26, timeout: (DEADLINE_S + 5) * 1000 };
      const child = execFile(program, all, options, (error, out, stderr) => {
        if (error === null) resolve(out);
        else reject(new Error(`kubectl ${args.join(' ')}: ${stderr.trim() || error.message}`));
      });
      child.stdin?.end(input === undefined ? '' : stringifyJson(input));
    });
  const found = (json: string): readonly AnyObject[] => {
    if (json.trim() === '') return [];
    const answer = parseJson(json) as AnyObject & { items?: AnyObject[] };
    return answer.kind === 'List' ? (answer.items ?? []) : [answer];
  };
  const patch = async ({ apiVersion, kind, metadata, ...rest }: AnyObject, ...args: string[]): Promise<void> => {
    const { name, namespace, ...changed } = metadata;
    const body = stringifyJson({ metadata: changed, ...rest });
    const about = { apiVersion, kind, metadata: { name, namespace } };
    await run(['patch', ...args, '--type=merge', '-p', body, '-f', '-'], about);
  };
  const remove = async (objects: readonly AnyObject[], arg: string): Promise<void> => {
    await run(['delete', '--ignore-not-found', arg, '-f', '-'], listOf(objects));
  };
  return {
    apply: async (objects) => void (await run(['apply', '-f', '-'], listOf(objects))),
    patch: (object) => patch(object),
    status: (object) => patch(object, '--subresource=status'),
    delete: (objects) => remove(objects, `--timeout=${DEADLINE_S}s`),
    deleting: (objects) => remove(objects, '--wait=false'),
    wait: async (object, condition) => {
      await run(['wait', `--for=${condition}`, `--timeout=${DEADLINE_S}s`, '-f', '-'], object);
    },
    get: async (objects) => found(await run(['get', '--ignore-not-found', '-o', 'json', '-f', '-'], listOf(objects))),
    list: async ({ apiVersion, kind, metadata }) => {
      const [group = '', version = ''] = apiVersion.includes('/') ? apiVersion.split('/') : [];
      const resource = group === '' ? kind : `${kind}.${version}.${group}`;
      const where = metadata.namespace === undefined ? ['--all-namespaces'] : ['-n', metadata.namespace];
      return found(await run(['get', resource, ...where, '-o', 'json'], undefined));
    },
  };
}

function listOf(items: readonly AnyObject[]): unknown {
  return { apiVersion: 'v1', kind: 'List', items };
}

/** Uses a client in this process. */
export function inProcess(client: Client): ClusterActions {
  const deadlineMs = DEADLINE_S * 1000;
  const read = (object: AnyObject): Promise<AnyObject | undefined> =>
    findObject(client, kindOf(object), object.metadata);
  const patch = async (object: AnyObject, subresource?: string): Promise<void> => {
    const { apiVersion: _version, kind: _kind, ...body } = object;
    const options = { fieldManager: 'person', ...(subresource && { subresource }) };
    await client.patch(kindOf(object), object.metadata, { type: 'merge', body }, options);
  };
  const deleting = async (objects: readonly AnyObject[]): Promise<readonly AnyObject[]> => {
    const deleted = (await Promise.all(objects.map(read))).filter((object) => object !== undefined);
    for (const object of deleted) {
      await client.delete(kindOf(object), object.metadata).catch((error: unknown) => {
        if (!isNotFound(error)) throw error;
      });
    }
    return deleted;
  };
  return {
    async apply(objects) {
      for (const object of objects) {
        const patch = { type: 'apply', body: object, force: true } as const;
        await client.patch(kindOf(object), object.metadata, patch, { fieldManager: 'person' });
      }
    },
    patch: (object) => patch(object),
    status: (object) => patch(object, 'status'),
    deleting: async (objects) => void (await deleting(objects)),
    async delete(objects) {
      const deleted = await deleting(objects);
      // A controller may create another object with the same name.
      for (const object of deleted) {
        await poll(async () => (await read(object))?.metadata.uid !== object.metadata.uid, deadlineMs);
      }
    },
    async wait(object, condition) {
      const [word, type = '', status = 'True'] = condition.split('=');
      if (word !== 'condition') throw new Error(`only condition=TYPE can be waited for here, not ${condition}`);
      const holds = (found: AnyObject | undefined): boolean => {
        const { conditions = [] } = (found?.['status'] ?? {}) as { conditions?: unknown[] };
        return conditions.some((each) => difference({ type, status }, each) === undefined);
      };
      await poll(async () => holds(await read(object)), deadlineMs);
    },
    async get(objects) {
      return (await Promise.all(objects.map(read))).filter((object) => object !== undefined);
    },
    async list(like) {
      const { namespace } = like.metadata;
      return (await client.list(kindOf(like), namespace === undefined ? {} : { namespace })).items;
    },
  };
}

const WITHOUT_NAMESPACE = new Set([
  'ClusterRole',
  'CustomResourceDefinition',
  'DeploymentTargetClass',
  'MutatingWebhookConfiguration',
  'Namespace',
  'Node',
  'PriorityClass',
  'appmesh.k8s.aws/v1beta2 Mesh',
]);

/** The kind of an object, with its plural by the rules of English. */
function kindOf({ apiVersion, kind }: AnyObject): Kind {
  const name = kind.toLowerCase();
  const plural = /(s|sh)$/.test(name) ? `${name}es` : name.replace(/([^aeiou])y$/, '$1ie') + 's';
  const namespaced = !WITHOUT_NAMESPACE.has(kind) && !WITHOUT_NAMESPACE.has(`${apiVersion} ${kind}`);
  return defineKind(apiVersion, kind, plural, { namespaced });
}
