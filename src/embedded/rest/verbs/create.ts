// POST: creates an object from the request body.
import type { AnyObject } from '../../../kube/objects.ts';
import { prepareForCreate, warningsOf } from '../../kinds/index.ts';
import { collectionOf } from '../../registry.ts';
import { VersionConflict } from '../../store/types.ts';
import { commitInTurn } from '../write/commit.ts';
import { conform, conformAdmitted, problemsOf } from '../write/conform.ts';
import { keyOf } from '../context.ts';
import type { Cluster, Target, WriteOptions, Written } from '../context.ts';
import { alreadyExists, Fault, forbidden, invalid, notFound, notGenerated } from '../fault.ts';
import { trackWrite } from '../write/managers.ts';
import { generatedName, newMeta } from '../write/meta.ts';
import { incomingObject } from '../write/object.ts';
import { definitionCollection } from '../rules/definitions.ts';
import { rulesOf } from '../rules/index.ts';

const nameAttempts = 8;

/** Creates an object. Retries if a generated name exists. `managed`: the object already has its managedFields. */
export async function create(
  cluster: Cluster,
  target: Target,
  body: unknown,
  options: WriteOptions,
  managed = false,
): Promise<Written> {
  const given = incomingObject(target, body);
  const prefix = given.metadata.generateName ?? '';
  const generate = (given.metadata.name ?? '') === '' && prefix !== '';
  for (let attempt = 1; ; attempt++) {
    const name = generate ? generatedName(prefix) : (given.metadata.name ?? '');
    try {
      return await createNamed(cluster, { ...target, name }, given, options, managed);
    } catch (error) {
      const taken = error instanceof Fault && error.status.reason === 'AlreadyExists';
      if (taken && prefix !== '' && (!generate || attempt === nameAttempts)) throw notGenerated(error);
      if (!taken || !generate) throw error;
    }
  }
}

async function createNamed(
  cluster: Cluster,
  target: Target,
  given: AnyObject,
  options: WriteOptions,
  managed: boolean,
): Promise<Written> {
  const { resource, name, namespace } = target;
  refuseWithoutNamespace(cluster, target);
  refuseUnderTerminatingDefinition(cluster, target);
  const rules = rulesOf(resource);
  const named = { ...given, metadata: newMeta(given.metadata, name, namespace, resource.hasGeneration) };
  const checked = conform(target, named, options);
  const admitted =
    (await cluster.admission.mutate({ operation: 'CREATE', target, object: checked, oldObject: undefined, options })) ??
    checked;
  const owned = managed ? checked : trackWrite(target, undefined, withoutReset(target, checked), options);
  const prepared = prepareForCreate(resource, admitted) as AnyObject;
  const completed = rules.prepareCreate?.(prepared, cluster, target, options.user) ?? prepared;
  const settled = admitted === checked ? completed : conformAdmitted(target, completed, options);
  const problems = problemsOf(cluster, target, settled, undefined);
  if (problems.length > 0) throw invalid(resource, name, problems);
  for (const warning of warningsOf(resource, settled)) options.warn(warning);
  // The field manager owns what it sent, not what admission and the server filled in.
  const { managedFields } = owned.metadata;
  const next = { ...settled, metadata: { ...settled.metadata, ...(managedFields && { managedFields }) } };
  const request = { operation: 'CREATE', target, object: next, oldObject: undefined, options } as const;
  await cluster.admission.validate(request);
  return cluster.admission.create(request, async () => {
    // Checked last, as by the storage layer, which a dry run does not reach.
    if (!options.dryRun && /^0*[1-9]\d*$/.test(given.metadata.resourceVersion ?? '')) {
      throw new Fault(500, '', 'resourceVersion should not be set on objects to be created');
    }
    const present = cluster.store.get(collectionOf(resource), keyOf(target));
    if (present !== undefined) throw alreadyExists(resource, name, present.object.metadata.deletionTimestamp);
    try {
      return { stored: await commitInTurn(cluster, target, undefined, next, options), created: true, gone: false };
    } catch (error) {
      if (error instanceof VersionConflict) throw alreadyExists(resource, name);
      throw error;
    }
  });
}

/** Creating an object does not make the writer own its status, nor fields that the server sets. */
function withoutReset({ resource }: Target, object: AnyObject): AnyObject {
  const fields = [...(resource.status ? ['status'] : []), ...(rulesOf(resource).unowned ?? [])];
  if (!fields.some((field) => Object.hasOwn(object, field))) return object;
  return Object.fromEntries(
    Object.entries(object).filter(([field]) => !fields.includes(field)),
  ) as unknown as AnyObject;
}

/** A terminating definition waits until all its objects are deleted, so new ones are refused. */
function refuseUnderTerminatingDefinition(cluster: Cluster, { resource, name }: Target): void {
  if (!resource.custom) return;
  const definition = cluster.store.get(definitionCollection, `${resource.plural}.${resource.group}`);
  if (definition?.object.metadata.deletionTimestamp === undefined) return;
  throw forbidden(resource, name, 'create not allowed while custom resource definition is terminating');
}

/** Refuses objects in a namespace that is missing or terminating. */
function refuseWithoutNamespace(cluster: Cluster, target: Target): void {
  if (!target.resource.namespaced) return;
  const namespace = cluster.store.get('namespaces', target.namespace);
  if (namespace === undefined) {
    throw notFound({ group: '', plural: 'namespaces', kind: 'Namespace' }, target.namespace);
  }
  if (namespace.object.metadata.deletionTimestamp === undefined) return;
  const why = `unable to create new content in namespace ${target.namespace} because it is being terminated`;
  const fault = forbidden(target.resource, target.name, why);
  throw new Fault(403, 'Forbidden', fault.message, {
    ...fault.status.details,
    causes: [
      {
        reason: 'NamespaceTerminating',
        message: `namespace ${target.namespace} is being terminated`,
        field: 'metadata.namespace',
      },
    ],
  });
}
