// `offshoot env set-image`: sets the images of containers of an environment, and changes nothing else.
import { DynamicEnv } from '../../api/dynamicenv.ts';
import type { ContainerOverrides, Subset } from '../../api/dynamicenv.ts';
import { validateUpdate } from '../../environments/index.ts';
import { isConflict } from '../../kube/errors.ts';
import { keyOf } from '../../kube/objects.ts';
import { jsonEqual } from '../../watchable/index.ts';
import { failure, invalidFlag } from '../exit.ts';
import { dryRunSuffix } from '../objects/delete.ts';
import { withConnection } from '../options.ts';
import type { ClusterOptions, DryRun } from '../options.ts';
import { objectPrinter } from '../terminal/output.ts';
import type { OutputFormat } from '../terminal/output.ts';
import { FIELD_MANAGER } from './apply.ts';
import { getEnvironment } from './get.ts';
import { parseTarget } from './manifest.ts';
import type { Target } from './manifest.ts';
import { waitReady } from './wait.ts';

export interface SetImageOptions extends ClusterOptions {
  readonly dryRun: DryRun;
  readonly output?: OutputFormat;
  readonly wait?: boolean;
  readonly timeout: number;
}

/** Sets images of an existing environment. */
export function setImages(name: string, texts: readonly string[], options: SetImageOptions): Promise<void> {
  return withConnection(options, async ({ client, namespace }) => {
    const before = await getEnvironment(client, { name, namespace });
    const desired = texts.reduce((env, text) => withImage(env, text), before);
    const verdict = validateUpdate(before, desired);
    if (!verdict.allowed)
      throw failure('Invalid', verdict.status.message ?? `environment ${keyOf(before.metadata)} is refused`);
    const isSame = jsonEqual(before.spec, desired.spec);
    const after = isSame || options.dryRun === 'client' ? desired : await write();
    const printer = objectPrinter(options.output);
    printer.print(after, isSame ? 'unchanged' : `image updated${dryRunSuffix(options.dryRun)}`);
    printer.end();
    if (options.wait && options.dryRun === 'none') await waitReady(client, after, options.timeout);

    async function write(): Promise<DynamicEnv> {
      const { subsets, consumers } = desired.spec;
      const { resourceVersion } = before.metadata;
      const body = { metadata: { resourceVersion }, spec: { subsets, ...(consumers && { consumers }) } };
      const patchOptions = { fieldManager: FIELD_MANAGER, dryRun: options.dryRun === 'server' };
      return client
        .patch(DynamicEnv, before.metadata, { type: 'merge', body }, patchOptions)
        .catch((error: unknown) => {
          if (!isConflict(error)) throw error;
          throw failure('Conflict', `environment ${keyOf(before.metadata)} was changed at the same time: try again`);
        });
    }
  });
}

/** The environment with the image that a text such as `cart=cart:2` sets. */
export function withImage(env: DynamicEnv, text: string): DynamicEnv {
  const target = parseTarget('IMAGE', text);
  const isSelected = ({ name, namespace }: Subset): boolean =>
    name === target.name && (target.namespace ?? namespace) === namespace;
  const items = [...env.spec.subsets, ...(env.spec.consumers ?? [])];
  const [found, ...others] = items.filter(isSelected);
  const has = items.map((each) => keyOf(each)).join(', ');
  if (found === undefined) {
    throw invalidFlag(
      'IMAGE',
      text,
      `environment ${keyOf(env.metadata)} has no Deployment ${target.name}; it has ${has}`,
    );
  }
  if (others.length > 0) {
    throw invalidFlag('IMAGE', text, `there are several: name the namespace too, as ${found.namespace}/${text}`);
  }
  const changed = changedItem(found, target, text);
  const replace = (each: Subset): Subset => (each === found ? changed : each);
  const { subsets, consumers } = env.spec;
  return {
    ...env,
    spec: { ...env.spec, subsets: subsets.map(replace), ...(consumers && { consumers: consumers.map(replace) }) },
  };
}

function changedItem(item: Subset, { container, image }: Target, text: string): Subset {
  const { containers = [], initContainers = [] } = item;
  const all = [...containers, ...initContainers].map(({ containerName }) => containerName);
  const [only] = containers;
  const name = container ?? (containers.length === 1 ? only!.containerName : undefined);
  if (name === undefined || !all.includes(name)) {
    const problem = name === undefined ? 'more than one container' : `no container ${name}`;
    throw invalidFlag(
      'IMAGE',
      text,
      `the environment has ${problem} of ${keyOf(item)}; name one of ${all.join(', ')}, as ${item.name}:${all[0]}=…`,
    );
  }
  const replace = (each: ContainerOverrides): ContainerOverrides =>
    each.containerName === name ? { ...each, image } : each;
  return {
    ...item,
    ...(item.containers && { containers: containers.map(replace) }),
    ...(item.initContainers && { initContainers: initContainers.map(replace) }),
  };
}
