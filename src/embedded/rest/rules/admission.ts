// Webhook configurations and aggregated roles are read on every write or request: what they hold must be readable.
import { selectorErrors } from '../../kinds/validate/common.ts';
import { invalid } from '../../schema/field-error.ts';
import type { FieldError } from '../../schema/field-error.ts';
import { items, part } from './types.ts';
import type { KindRules } from './types.ts';

function urlErrors(url: unknown, field: string): FieldError[] {
  if (typeof url !== 'string') return [];
  const parsed = URL.parse(url);
  if (parsed === null) return [invalid(field, url, 'url must be a valid URL')];
  if (parsed.protocol !== 'https:') {
    const detail = `'https' is the only allowed URL scheme; desired format: https://host[/path]`;
    return [invalid(field, parsed.protocol.slice(0, -1), detail)];
  }
  return parsed.username === '' && parsed.search === '' && parsed.hash === ''
    ? []
    : [invalid(field, url, 'user information, query parameters and fragments are not permitted in the URL')];
}

export const webhookRules: KindRules = {
  needsVersion: true,
  problems: (next) =>
    items(next, 'webhooks').flatMap((webhook, index) => {
      const place = `webhooks[${index}]`;
      return [
        ...urlErrors(part(webhook, 'clientConfig')['url'], `${place}.clientConfig.url`),
        ...selectorErrors(webhook['namespaceSelector'], `${place}.namespaceSelector`),
        ...selectorErrors(webhook['objectSelector'], `${place}.objectSelector`),
      ];
    }),
};

export const clusterRoleRules: KindRules = {
  createsOnUpdate: true,
  problems: (next) =>
    items(part(next, 'aggregationRule'), 'clusterRoleSelectors').flatMap((selector, index) =>
      selectorErrors(selector, `aggregationRule.clusterRoleSelectors[${index}]`),
    ),
};
