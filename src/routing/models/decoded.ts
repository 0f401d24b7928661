// The input kinds of translations, decoded object by object. Changes of fields that are not decoded wake nobody.
import { Mesh as MeshKind, MeshGroup as MeshGroupKind, RoutingRule } from '../../api/routing.ts';
import { Upstream as UpstreamKind } from '../../api/upstream.ts';
import { defineModel } from '../../controller/index.ts';
import type { Facts, Model } from '../../controller/index.ts';
import { refOf } from '../../kube/index.ts';
import type { AnyKind } from '../../kube/index.ts';
import { derive } from '../../watchable/index.ts';
import type { DerivedMap } from '../../watchable/index.ts';
import { decodeObject, sorted } from '../decode/snapshot.ts';
import type { DecodedObject } from '../decode/snapshot.ts';
import { diagnostic } from '../errors.ts';
import type { Diagnostic } from '../errors.ts';
import type { Mesh, MeshGroup, Pod, Ref, Rule, Service, Upstream } from '../model.ts';
import { Pod as PodKind, Service as ServiceKind } from '../objects.ts';

export type Decoded<T> = Model<DerivedMap<string, DecodedObject<T>>>;

export const meshes = decoded<Mesh>('meshes', MeshKind);
export const groups = decoded<MeshGroup>('mesh groups', MeshGroupKind);
export const rules = decoded<Rule>('routing rules', RoutingRule);
export const upstreams = decoded<Upstream>('upstreams', UpstreamKind);
export const services = decoded<Service>('services', ServiceKind);
/** Only pods that are part of a mesh. */
export const pods = decoded<Pod>('pods', PodKind, ({ nodeNames, arns }) => nodeNames.length > 0 || arns.length > 0);

/** All valid objects of a kind, sorted by namespace and name. */
export function valuesOf<T extends { readonly ref: Ref }>(facts: Facts, model: Decoded<T>): T[] {
  return sorted(facts.read.list(facts.model(model)).flatMap((each) => ('value' in each ? [each.value] : [])));
}

/** Diagnostics about the invalid objects of a kind, sorted by namespace and name. */
export function invalidOf<T extends { readonly ref: Ref }>(
  facts: Facts,
  model: Decoded<T>,
  kind: string,
): readonly Diagnostic[] {
  const found = facts.read.list(facts.model(model)).flatMap((each) => ('invalid' in each ? [each] : []));
  return sorted(found.map(({ invalid, rest }) => ({ invalid, ref: rest.ref }))).map(({ invalid, ref }) =>
    diagnostic('error', kind, ref, invalid),
  );
}

/** An object, if it exists and is valid. */
export function valueOf<T>(facts: Facts, model: Decoded<T>, key: string): T | undefined {
  const found = facts.read.get(facts.model(model), key);
  return found !== undefined && 'value' in found ? found.value : undefined;
}

function decoded<T>(name: string, kind: AnyKind, isRead: (value: T) => boolean = () => true): Decoded<T> {
  return defineModel((facts) =>
    derive(
      `decoded ${name}`,
      (read, key: string): DecodedObject<T> | undefined => {
        const object = facts(read).get(kind, refOf(key));
        const found = object && decodeObject<T>(object);
        return found !== undefined && 'value' in found && !isRead(found.value) ? undefined : found;
      },
      { keys: (read) => facts(read).keys(kind) },
    ),
  );
}
