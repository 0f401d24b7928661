// What the controllers of spaces look up, and the indexes that make looking up cheap.
import { Space, SpaceBinding } from '../../api/spaces.ts';
import type { SpaceRequest } from '../../api/spaces.ts';
import type { View } from '../../controller/index.ts';
import { reading } from '../../kube/index.ts';
import type { TableDeclaration } from '../../kube/index.ts';
import { contentKinds, Namespace } from '../objects.ts';
import { readingSecrets } from '../credentials.ts';
import { claimTables } from '../world.ts';
import { REQUEST_LABEL, REQUEST_NAMESPACE_LABEL, SPACE_LABEL } from './names.ts';

/** Spaces by their request; namespaces and bindings by their space. */
export const spaceTables: readonly TableDeclaration[] = [
  ...claimTables,
  reading(Space, {
    indexes: {
      request: ({ metadata }) => {
        const { [REQUEST_LABEL]: name = '', [REQUEST_NAMESPACE_LABEL]: namespace = '' } = metadata.labels ?? {};
        return name === '' || namespace === '' ? [] : [`${namespace}/${name}`];
      },
    },
  }),
  reading(SpaceBinding, {
    indexes: { space: ({ metadata, spec }) => [`${metadata.namespace}/${spec.space}`] },
  }),
  reading(Namespace, {
    indexes: {
      space: ({ metadata }) => {
        const space = metadata.labels?.[SPACE_LABEL];
        return space === undefined ? [] : [space];
      },
    },
  }),
  readingSecrets,
  ...contentKinds.map((kind) => reading(kind)),
];

/** The spaces that were made for a request. */
export function spacesFor(view: View, { metadata }: SpaceRequest): readonly Space[] {
  return view.index(Space, 'request', `${metadata.namespace}/${metadata.name}`);
}

/** Who was bound to a space itself. */
export function bindingsOf(view: View, { metadata }: Space): readonly SpaceBinding[] {
  return view
    .index(SpaceBinding, 'space', `${metadata.namespace}/${metadata.name}`)
    .filter((binding) => binding.metadata.deletionTimestamp === undefined);
}

/** The namespaces of a space, sorted by name. */
export function namespacesOf(view: View, space: Space): readonly Namespace[] {
  return view.index(Namespace, 'space', space.metadata.name);
}
