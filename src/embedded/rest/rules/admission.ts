// Webhook configurations and aggregated roles are read on every write or request: what they hold must be readable.
import { selectorErrors } from '../../kinds/validate/common.ts';
import { urlErrors } from '../../kinds/validate/webhooks.ts';
import { items, part } from './types.ts';
import type { KindRules } from './types.ts';

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
