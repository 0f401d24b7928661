// Ownership of installed objects: the labels of the owner, the fields that are never ours, and objects to prune.
import type { AnyObject } from '../../kube/index.ts';
import { formatQuantity, parseQuantity } from '../../kube/quantity.ts';
import { ISTIO_NAMESPACE, MODULE_LABEL, MODULE_NAME } from '../names.ts';
import { COMPONENT_LABEL, componentOf } from './components.ts';
import { objectIdentity } from './render/manifests.ts';

const OWNER = 'install.operator.istio.io/owning-resource';
const NOT_PRUNED = 'install.operator.istio.io/owning-resource-not-pruned';
/** The name of our operator, and the one that the Kyma operator used with older versions of Istio. */
const OWNERS = ['default-operator', 'installed-state-default-operator'];

/** An object as it is applied: with the labels of its owner, which contain no version, and without fields of others. */
export function owned(object: AnyObject, live?: AnyObject): AnyObject {
  const labels = {
    ...object.metadata.labels,
    'operator.istio.io/managed': 'Reconcile',
    [COMPONENT_LABEL]: componentOf(object),
    'operator.istio.io/version': 'unknown',
    'istio.io/rev': 'default',
    [OWNER]: OWNERS[0]!,
    'install.operator.istio.io/owning-resource-namespace': ISTIO_NAMESPACE,
    [MODULE_LABEL]: MODULE_NAME,
  };
  return withoutForeignFields({ ...object, metadata: { ...object.metadata, labels } }, live);
}

/**
 * An object without the fields that others own: `replicas` belongs to the autoscaler, `caBundle` to istiod, and so does
 * the `failurePolicy` of an existing validating webhook.
 */
function withoutForeignFields(object: AnyObject, live?: AnyObject): AnyObject {
  if (object.kind === 'Deployment') {
    const { replicas: _, ...spec } = (object['spec'] ?? {}) as Record<string, unknown>;
    return inStoredForm({ ...object, spec });
  }
  if (object.kind === 'DaemonSet') return inStoredForm(object);
  if (object.kind !== 'ValidatingWebhookConfiguration' && object.kind !== 'MutatingWebhookConfiguration') return object;
  const found = new Map(webhooksOf(live).map((webhook) => [webhook.name, webhook]));
  const webhooks = webhooksOf(object).map((webhook) => {
    const { caBundle: _, ...clientConfig } = webhook.clientConfig ?? {};
    const policy = object.kind === 'ValidatingWebhookConfiguration' && found.get(webhook.name)?.failurePolicy;
    // Rules are replaced as a whole, so we include the default of the server.
    const rules = webhook.rules?.map((rule) => ({ scope: '*', ...rule }));
    return {
      ...webhook,
      clientConfig,
      ...(rules && { rules }),
      ...(typeof policy === 'string' && { failurePolicy: policy }),
    };
  });
  return { ...object, webhooks };
}

/** Whether an object is a workload with pods. */
export function isWorkload({ kind }: AnyObject): boolean {
  return kind === 'Deployment' || kind === 'DaemonSet' || kind === 'StatefulSet';
}

interface Templated {
  readonly template?: { readonly spec?: { readonly containers?: readonly { readonly resources?: Resources }[] } };
}
type Amounts = Readonly<Record<string, string | number>>;
interface Resources {
  readonly limits?: Amounts;
  readonly requests?: Amounts;
}

/** A workload in the form in which the server stores it (`1000m` is `1`), so that it equals what was applied. */
function inStoredForm(object: AnyObject): AnyObject {
  const spec = storedForm(object['spec']) as Templated | undefined;
  const containers = spec?.template?.spec?.containers?.map((container) =>
    container.resources === undefined
      ? container
      : { ...container, resources: canonicalResources(container.resources) },
  );
  if (containers === undefined) return { ...object, spec };
  const template = { ...spec?.template, spec: { ...spec?.template?.spec, containers } };
  return { ...object, spec: { ...spec, template } };
}

/** Fields in the stored form: no nulls, no empty values of variables, and field references with their version. */
function storedForm(value: unknown, name = ''): unknown {
  if (Array.isArray(value)) return value.map((item) => storedForm(item, name));
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.entries(value as Readonly<Record<string, unknown>>)
    .filter(([key, field]) => field !== null && !(name === 'env' && key === 'value' && field === ''))
    .map(([key, field]) => [key, storedForm(field, key)] as const);
  return { ...(name === 'fieldRef' && { apiVersion: 'v1' }), ...Object.fromEntries(fields) };
}

function canonicalResources({ limits, requests, ...rest }: Resources): Resources {
  const form = (amounts: Amounts): Amounts =>
    Object.fromEntries(
      Object.entries(amounts).map(([name, text]) => {
        const quantity = parseQuantity(String(text));
        return [name, quantity === undefined ? text : formatQuantity(quantity)];
      }),
    );
  return { ...rest, ...(limits && { limits: form(limits) }), ...(requests && { requests: form(requests) }) };
}

/**
 * The objects to prune: those with the label of the owner that are no longer rendered. Never definitions, because all
 * objects of their kinds would be deleted with them, and never objects that are marked as not pruned.
 */
export function leftOver(live: Iterable<AnyObject>, rendered: readonly AnyObject[]): readonly AnyObject[] {
  const desired = new Set(rendered.map(objectIdentity));
  return [...live].filter((object) => {
    const { labels = {} } = object.metadata;
    if (object.kind === 'CustomResourceDefinition' || labels[NOT_PRUNED] === 'true') return false;
    if (!OWNERS.includes(labels[OWNER] ?? '') || labels[COMPONENT_LABEL] === undefined) return false;
    return !desired.has(objectIdentity(object));
  });
}

export interface Webhook {
  readonly name: string;
  readonly failurePolicy?: string;
  readonly clientConfig?: Readonly<Record<string, unknown>>;
  readonly rules?: readonly Readonly<Record<string, unknown>>[];
  readonly namespaceSelector?: { readonly matchLabels?: Readonly<Record<string, string>> };
  readonly objectSelector?: { readonly matchLabels?: Readonly<Record<string, string>> };
}

export function webhooksOf(object: AnyObject | undefined): readonly Webhook[] {
  return (object?.['webhooks'] ?? []) as readonly Webhook[];
}
