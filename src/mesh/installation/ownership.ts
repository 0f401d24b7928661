// What of the cluster is ours: the labels that say so, the fields that are never ours, and what is left over.
import type { AnyObject } from '../../kube/index.ts';
import { formatQuantity, parseQuantity } from '../../kube/quantity.ts';
import { ISTIO_NAMESPACE, MODULE_LABEL, MODULE_NAME } from '../names.ts';
import { COMPONENT_LABEL, componentOf } from './components.ts';
import { objectIdentity } from './render/manifests.ts';

const OWNER = 'install.operator.istio.io/owning-resource';
const NOT_PRUNED = 'install.operator.istio.io/owning-resource-not-pruned';
/** The name of our operator, and the one that the original used with older versions of Istio. */
const OWNERS = ['default-operator', 'installed-state-default-operator'];

/** An object as it is applied: with the labels of its owner, which never name a version, and without foreign fields. */
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
 * An object without the fields that others decide: `replicas` belongs to the autoscaler, `caBundle` to istiod, and so
 * does the `failurePolicy` of the validation once it is there.
 */
function withoutForeignFields(object: AnyObject, live?: AnyObject): AnyObject {
  if (object.kind === 'Deployment') {
    const { replicas: _, ...spec } = (object['spec'] ?? {}) as Record<string, unknown>;
    return inServerWords({ ...object, spec });
  }
  if (object.kind === 'DaemonSet') return inServerWords(object);
  if (object.kind !== 'ValidatingWebhookConfiguration' && object.kind !== 'MutatingWebhookConfiguration') return object;
  const found = new Map(webhooksOf(live).map((webhook) => [webhook.name, webhook]));
  const webhooks = webhooksOf(object).map((webhook) => {
    const { caBundle: _, ...clientConfig } = webhook.clientConfig ?? {};
    const policy = object.kind === 'ValidatingWebhookConfiguration' && found.get(webhook.name)?.failurePolicy;
    // Rules are replaced as a whole, so that the server's default in them is ours as well.
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

/** Whether pods belong to it. */
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

/** A workload as the server writes it (`1000m` is `1`), so that what it stores is what was applied. */
function inServerWords(object: AnyObject): AnyObject {
  const spec = storedForm(object['spec']) as Templated | undefined;
  const containers = spec?.template?.spec?.containers?.map((container) =>
    container.resources === undefined ? container : { ...container, resources: inServerForm(container.resources) },
  );
  if (containers === undefined) return { ...object, spec };
  const template = { ...spec?.template, spec: { ...spec?.template?.spec, containers } };
  return { ...object, spec: { ...spec, template } };
}

/** Fields as they are stored: no nulls, no empty values of variables, and references to fields with their version. */
function storedForm(value: unknown, name = ''): unknown {
  if (Array.isArray(value)) return value.map((item) => storedForm(item, name));
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.entries(value as Readonly<Record<string, unknown>>)
    .filter(([key, field]) => field !== null && !(name === 'env' && key === 'value' && field === ''))
    .map(([key, field]) => [key, storedForm(field, key)] as const);
  return { ...(name === 'fieldRef' && { apiVersion: 'v1' }), ...Object.fromEntries(fields) };
}

function inServerForm({ limits, requests, ...rest }: Resources): Resources {
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
 * What an earlier installation left: objects with the label of the owner that are rendered no more. Never definitions,
 * because every object of their kind would go with them, and never what says that it stays.
 */
export function leftOver(live: Iterable<AnyObject>, rendered: readonly AnyObject[]): readonly AnyObject[] {
  const wanted = new Set(rendered.map(objectIdentity));
  return [...live].filter((object) => {
    const { labels = {} } = object.metadata;
    if (object.kind === 'CustomResourceDefinition' || labels[NOT_PRUNED] === 'true') return false;
    if (!OWNERS.includes(labels[OWNER] ?? '') || labels[COMPONENT_LABEL] === undefined) return false;
    return !wanted.has(objectIdentity(object));
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
