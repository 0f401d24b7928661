// Whether a webhook matches a request: its rules, then its namespace and object selectors.
import type { AnyObject } from '../../kube/objects.ts';
import { matches, selectorOf } from '../../kube/selector.ts';
import type { LabelSelector } from '../../kube/selector.ts';
import type { AdmissionRequest } from '../rest/context.ts';
import type { Resource } from '../resource.ts';
import type { Store } from '../store/store.ts';
import type { WebhookClientConfig } from '../webhook-client.ts';
import type { MatchCondition } from './conditions.ts';

interface WebhookRule {
  readonly operations?: readonly string[];
  readonly apiGroups?: readonly string[];
  readonly apiVersions?: readonly string[];
  readonly resources?: readonly string[];
  readonly scope?: string;
}

/** One webhook of a configuration. */
export interface Webhook {
  readonly name: string;
  readonly clientConfig?: WebhookClientConfig;
  readonly rules?: readonly WebhookRule[];
  readonly failurePolicy?: string;
  readonly matchPolicy?: string;
  readonly namespaceSelector?: LabelSelector;
  readonly objectSelector?: LabelSelector;
  readonly timeoutSeconds?: number;
  readonly reinvocationPolicy?: string;
  readonly matchConditions?: readonly MatchCondition[];
}

/**
 * The resource in whose version the webhook gets the object; undefined when the webhook does not match. `versions` are
 * the other served versions of the resource, which also match unless matchPolicy is Exact.
 */
export function matchingResource(
  webhook: Webhook,
  request: AdmissionRequest,
  store: Store,
  versions: readonly Resource[],
): Resource | undefined {
  const { resource } = request.target;
  const candidates = webhook.matchPolicy === 'Exact' ? [resource] : [resource, ...versions];
  const found = candidates.find((candidate) => webhook.rules?.some((rule) => ruleMatches(rule, candidate, request)));
  if (found === undefined) return undefined;
  return selectsNamespace(webhook, request, store) && selectsObject(webhook, request) ? found : undefined;
}

function ruleMatches(rule: WebhookRule, resource: Resource, request: AdmissionRequest): boolean {
  const scope = rule.scope ?? '*';
  return (
    includesOrAll(rule.operations, request.operation) &&
    includesOrAll(rule.apiGroups, resource.group) &&
    includesOrAll(rule.apiVersions, resource.version) &&
    (scope === '*' || (scope === 'Namespaced') === resource.namespaced) &&
    (rule.resources ?? []).some((pattern) => resourceMatches(pattern, resource.plural, request.target.subresource))
  );
}

function includesOrAll(list: readonly string[] | undefined, value: string): boolean {
  return list !== undefined && (list.includes('*') || list.includes(value));
}

function resourceMatches(pattern: string, plural: string, subresource: string): boolean {
  const [rulePlural = '', ruleSubresource = ''] = pattern.split('/');
  if (pattern === '*') return subresource === '';
  if (rulePlural !== '*' && rulePlural !== plural) return false;
  return ruleSubresource === '*' || ruleSubresource === subresource;
}

function selectsNamespace(webhook: Webhook, request: AdmissionRequest, store: Store): boolean {
  const { resource, namespace, name } = request.target;
  if (webhook.namespaceSelector === undefined) return true;
  const selector = selectorOf(webhook.namespaceSelector);
  if (resource.group === '' && resource.plural === 'namespaces') {
    const labels = (request.object ?? store.get('namespaces', name)?.object)?.metadata.labels;
    return matches(selector, labels);
  }
  if (!resource.namespaced) return true;
  return matches(selector, store.get('namespaces', namespace)?.object.metadata.labels);
}

function selectsObject(webhook: Webhook, request: AdmissionRequest): boolean {
  if (webhook.objectSelector === undefined) return true;
  const selector = selectorOf(webhook.objectSelector);
  const selected = (object: AnyObject | undefined): boolean =>
    object !== undefined && matches(selector, object.metadata.labels);
  return selected(request.object) || selected(request.oldObject);
}
