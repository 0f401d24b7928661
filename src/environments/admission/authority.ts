// The permissions that a user needs to write an environment: nobody may run or read anything through an environment
// that they could not run or read themselves. The webhook checks them with the cluster.
import type { DynamicEnv } from '../../api/dynamicenv.ts';
import { changedItems, pathOf } from './placed-items.ts';
import type { FieldPath, PlacedItem } from './placed-items.ts';

/** A permission, as in a SubjectAccessReview. */
interface Permission {
  readonly namespace: string;
  readonly verb: 'create' | 'get';
  readonly group: string;
  readonly resource: string;
  readonly name?: string;
}

/** A permission that a part of an environment requires. */
export interface RequiredPermission {
  readonly permission: Permission;
  readonly at: FieldPath;
  /** Why it is required, and what to do without it. */
  readonly why: string;
}

/** The user who writes an environment. */
export interface Requester {
  readonly name: string;
  readonly lacks: (permission: Permission) => boolean;
}

/** The permissions that are required to create an environment or, with `old`, to update it. */
export function requiredPermissions(env: DynamicEnv, old?: DynamicEnv): readonly RequiredPermission[] {
  const items = changedItems(env, old);
  return [
    ...items.filter(({ item }) => item.namespace !== env.metadata.namespace).map(deployPermission),
    ...items.flatMap(readPermissions),
  ];
}

/** The first permission that the requester lacks, as a message for a field; undefined if none. */
export function missingPermission(
  required: readonly RequiredPermission[],
  requester: Requester | undefined,
): { readonly at: FieldPath; readonly message: string } | undefined {
  const found = requester && required.find(({ permission }) => requester.lacks(permission));
  if (requester === undefined || found === undefined) return undefined;
  const { permission, at, why } = found;
  const { verb, resource, name, group, namespace } = permission;
  const named = name === undefined ? '' : ` ${JSON.stringify(name)}`;
  const text = `user ${JSON.stringify(requester.name)} cannot ${verb} resource "${resource}"${named} in API group "${group}" in the namespace ${JSON.stringify(namespace)}`;
  return { at, message: `${pathOf(at)}: Forbidden: ${text}, ${why}` };
}

/** Only for other namespaces: in its own, the permission to write environments is enough. */
function deployPermission({ item: { namespace }, at }: PlacedItem): RequiredPermission {
  return {
    permission: { namespace, verb: 'create', group: 'apps', resource: 'deployments' },
    at: [...at, 'namespace'],
    why: "which an environment there requires: ask for that permission, or use Deployments in the environment's own namespace",
  };
}

const REFERENCES = { secretKeyRef: 'secrets', configMapKeyRef: 'configmaps' } as const;

/** A container can print the values that its variables refer to. */
function readPermissions({ item, at }: PlacedItem): readonly RequiredPermission[] {
  return (['containers', 'initContainers'] as const).flatMap((list) =>
    (item[list] ?? []).flatMap(({ env: variables }, container) =>
      (variables ?? []).flatMap(({ valueFrom }, variable) =>
        (Object.keys(REFERENCES) as (keyof typeof REFERENCES)[]).flatMap((form): readonly RequiredPermission[] => {
          const name = valueFrom?.[form]?.name;
          if (!name) return [];
          return [
            {
              permission: { namespace: item.namespace, verb: 'get', group: '', resource: REFERENCES[form], name },
              at: [...at, list, container, 'env', variable, 'valueFrom', form, 'name'],
              why: 'and the variable would expose it: ask for that permission, or remove the variable',
            },
          ];
        }),
      ),
    ),
  );
}
