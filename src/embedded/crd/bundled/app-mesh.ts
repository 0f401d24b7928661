// CustomResourceDefinitions of the AWS App Mesh controller, with their names and columns, but without validation.
import type { ApiObject } from '../../resource.ts';
import { type Column, type KindOutline, outline } from './define.ts';

const shared = { group: 'appmesh.k8s.aws', categories: ['all'], versions: ['v1beta2'] } as const;
const arn = (path: string): readonly Column[] => [{ name: 'ARN', path }];

const kinds: readonly KindOutline[] = [
  { ...shared, kind: 'Mesh', plural: 'meshes', cluster: true, columns: arn('.status.meshARN') },
  { ...shared, kind: 'VirtualNode', plural: 'virtualnodes', columns: arn('.status.virtualNodeARN') },
  { ...shared, kind: 'VirtualRouter', plural: 'virtualrouters', columns: arn('.status.virtualRouterARN') },
  { ...shared, kind: 'VirtualService', plural: 'virtualservices', columns: arn('.status.virtualServiceARN') },
];

/** The definitions, by name. */
export function appMeshDefinitions(): Readonly<Record<string, ApiObject>> {
  return Object.fromEntries(kinds.map((kind) => [`${kind.plural}.${kind.group}`, outline(kind)]));
}
