// The tables of a plan without a cluster: existing manifests, and the intended changes.
import { DynamicEnv } from '../../api/dynamicenv.ts';
import type { Intent } from '../../controller/index.ts';
import { keyOf } from '../../kube/objects.ts';
import type { AnyKind } from '../../kube/objects.ts';
import { tablesOf } from '../../kube/tables/of-objects.ts';
import type { Tables } from '../../kube/tables/tables.ts';
import { failure } from '../exit.ts';
import { manifestsOf } from '../explain/world.ts';
import type { Accepted } from '../manifests/checked.ts';
import { intendedObjects } from '../manifests/intents.ts';
import type { IntentOptions, PlanInput } from '../manifests/intents.ts';
import { suggestionFor } from '../objects/find.ts';
import { ENVIRONMENT } from './get.ts';

/** Tables with the objects of a file or directory. */
export function tablesOfManifests(kinds: Iterable<AnyKind>, path: string, namespace: string): Tables {
  return tablesOf(kinds, manifestsOf(path, namespace));
}

/** What to plan: one environment by NAME, the intended changes, or all environments of the namespace. */
export function planInputOfManifests(
  name: string | undefined,
  tables: Tables,
  accepted: Accepted,
  options: IntentOptions,
  namespace: string,
): PlanInput {
  const written = intendedObjects(name, DynamicEnv, accepted, options, namespace);
  const all = tables.of(DynamicEnv).list(namespace);
  const find = (requested: string): DynamicEnv => {
    const found = all.find(({ metadata }) => metadata.name === requested);
    if (found !== undefined) return found;
    const hint = suggestionFor({ ...ENVIRONMENT, list: `offshoot plan -n ${namespace} --world` }, requested, all);
    throw failure('NotFound', `there is no environment ${requested} in namespace ${namespace} of --world; ${hint}`);
  };
  const intents = [
    ...written.map(({ object }) => applied(tables, object as DynamicEnv)),
    ...(options.delete ?? []).map((each): Intent => ({ kind: DynamicEnv, delete: find(each).metadata })),
  ];
  if (name !== undefined) return { existing: [find(name).metadata], intents, written };
  return { existing: intents.length === 0 ? all.map(({ metadata }) => metadata) : [], intents, written };
}

/** An environment as it would be after it is applied; its status is kept. */
function applied(tables: Tables, object: DynamicEnv): Intent {
  const before = tables.of(DynamicEnv).get(keyOf(object.metadata));
  if (before === undefined) return { kind: DynamicEnv, put: object };
  const { uid, generation = 1, creationTimestamp, finalizers } = before.metadata;
  const kept = { uid, creationTimestamp, finalizers };
  const metadata = { ...definedIn(kept), ...object.metadata, generation: generation + 1 };
  return { kind: DynamicEnv, put: { ...object, metadata, ...(before.status && { status: before.status }) } };
}

function definedIn<T extends object>(fields: T): Partial<T> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Partial<T>;
}
