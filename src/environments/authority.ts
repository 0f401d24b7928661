// The rights that who writes an environment must have: nobody runs or reads anything through an environment that they
// could not run or read themselves. The webhook asks the cluster for them.
import type { DynamicEnv } from '../api/dynamicenv.ts';
import { changedItems, pathOf } from './placed-items.ts';
import type { FieldPath, PlacedItem } from './placed-items.ts';

/** A right as the cluster is asked for it. */
interface Right {
  readonly namespace: string;
  readonly verb: 'create' | 'get';
  readonly group: string;
  readonly resource: string;
  readonly name?: string;
}

/** A right that something in an environment needs. */
export interface NeededRight {
  readonly right: Right;
  readonly at: FieldPath;
  /** Why it is needed, and what to do without it. */
  readonly why: string;
}

/** Who writes an environment. */
export interface Requester {
  readonly name: string;
  readonly lacks: (right: Right) => boolean;
}

/** The rights that are needed to create an environment; with the old one, to change it so. */
export function neededRights(env: DynamicEnv, old?: DynamicEnv): readonly NeededRight[] {
  const items = changedItems(env, old);
  return [
    ...items.filter(({ item }) => item.namespace !== env.metadata.namespace).map(deployingIn),
    ...items.flatMap(readingFor),
  ];
}

/** What is refused to a requester, at which place; undefined if nothing is. */
export function refusedRight(
  rights: readonly NeededRight[],
  requester: Requester | undefined,
): { readonly at: FieldPath; readonly message: string } | undefined {
  const found = requester && rights.find(({ right }) => requester.lacks(right));
  if (requester === undefined || found === undefined) return undefined;
  const { right, at, why } = found;
  const { verb, resource, name, group, namespace } = right;
  const named = name === undefined ? '' : ` ${JSON.stringify(name)}`;
  const text = `user ${JSON.stringify(requester.name)} cannot ${verb} resource "${resource}"${named} in API group "${group}" in the namespace ${JSON.stringify(namespace)}`;
  return { at, message: `${pathOf(at)}: Forbidden: ${text}, ${why}` };
}

/** What is in its own namespace is for those who may have environments there. */
function deployingIn({ item: { namespace }, at }: PlacedItem): NeededRight {
  return {
    right: { namespace, verb: 'create', group: 'apps', resource: 'deployments' },
    at: [...at, 'namespace'],
    why: "which an environment there requires: ask for that permission, or use Deployments in the environment's own namespace",
  };
}

const REFERENCES = { secretKeyRef: 'secrets', configMapKeyRef: 'configmaps' } as const;

/** What variables refer to, their containers can print. */
function readingFor({ item, at }: PlacedItem): readonly NeededRight[] {
  return (['containers', 'initContainers'] as const).flatMap((list) =>
    (item[list] ?? []).flatMap(({ env: variables }, container) =>
      (variables ?? []).flatMap(({ valueFrom }, variable) =>
        (Object.keys(REFERENCES) as (keyof typeof REFERENCES)[]).flatMap((form): readonly NeededRight[] => {
          const name = valueFrom?.[form]?.name;
          if (!name) return [];
          return [
            {
              right: { namespace: item.namespace, verb: 'get', group: '', resource: REFERENCES[form], name },
              at: [...at, list, container, 'env', variable, 'valueFrom', form, 'name'],
              why: 'and the variable would expose it: ask for that permission, or remove the variable',
            },
          ];
        }),
      ),
    ),
  );
}
