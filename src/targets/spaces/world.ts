// Lookups of the space controllers, and the indexes for them.
import { Space, SpaceBinding } from '../../api/spaces.ts';
import type { SpaceRequest } from '../../api/spaces.ts';
import type { View } from '../../controller/index.ts';
import { defineTable } from '../../kube/index.ts';
import { Namespace } from '../objects.ts';
import { REQUEST_LABEL, REQUEST_NAMESPACE_LABEL, SPACE_LABEL } from './names.ts';

const Spaces = defineTable(Space, {
  indexes: {
    request: ({ metadata }) => {
      const { [REQUEST_LABEL]: name = '', [REQUEST_NAMESPACE_LABEL]: namespace = '' } = metadata.labels ?? {};
      return name === '' || namespace === '' ? [] : [`${namespace}/${name}`];
    },
  },
});

const SpaceBindings = defineTable(SpaceBinding, {
  indexes: { space: ({ metadata, spec }) => [`${metadata.namespace}/${spec.space}`] },
});

const SpaceNamespaces = defineTable(Namespace, {
  indexes: {
    space: ({ metadata }) => {
      const space = metadata.labels?.[SPACE_LABEL];
      return space === undefined ? [] : [space];
    },
  },
});

/** The spaces that were made for a request. */
export function spacesFor(view: View, { metadata }: SpaceRequest): readonly Space[] {
  return view.index(Spaces, 'request', `${metadata.namespace}/${metadata.name}`);
}

/** The bindings of a space itself. */
export function bindingsOf(view: View, { metadata }: Space): readonly SpaceBinding[] {
  return view
    .index(SpaceBindings, 'space', `${metadata.namespace}/${metadata.name}`)
    .filter((binding) => binding.metadata.deletionTimestamp === undefined);
}

/** The namespaces of a space, sorted by name. */
export function namespacesOf(view: View, space: Space): readonly Namespace[] {
  return view.index(SpaceNamespaces, 'space', space.metadata.name);
}
