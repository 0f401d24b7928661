// Webhook configurations and aggregated roles are evaluated on every request: their selectors and URLs must be valid.
import { selectorErrors } from '../../kinds/validate/common.ts';
import { urlErrors } from '../../kinds/validate/webhooks.ts';
import { items, part } from './types.ts';
import type { KindRules } from './types.ts';

export const webhookRules: KindRules = {
  needsVersion: true,
  problems: (next) =>
    items(next, 'webhooks').flatMap((webhook, index) => {
      const field = `webhooks[${index}]`;
      return [
        ...urlErrors(part(webhook, 'clientConfig')['url'], `${field}.clientConfig.url`),
        ...selectorErrors(webhook['namespaceSelector'], `${field}.namespaceSelector`),
        ...selectorErrors(webhook['objectSelector'], `${field}.objectSelector`),
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
