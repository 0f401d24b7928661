// Whether new pods can get a sidecar: the built-in renderer registers an injector that matches no pod.
import { defineKind } from '../../kube/index.ts';
import type { KubeObject } from '../../kube/index.ts';

interface WebhookConfiguration extends KubeObject {
  readonly webhooks?: readonly {
    readonly rules?: readonly { readonly resources?: readonly string[] }[];
    readonly objectSelector?: { readonly matchLabels?: Readonly<Record<string, string>> };
  }[];
}

export const MutatingWebhook = defineKind<WebhookConfiguration>(
  'admissionregistration.k8s.io/v1',
  'MutatingWebhookConfiguration',
  'mutatingwebhookconfigurations',
  { namespaced: false },
);

/** The label in selectors of webhooks that Istio has deactivated. */
const DEACTIVATED = 'istio.io/deactivated';

/** Whether one of these webhooks is called for new pods. */
export function injectsSidecars(configurations: readonly WebhookConfiguration[]): boolean {
  return configurations.some(({ webhooks = [] }) =>
    webhooks.some(({ rules = [], objectSelector }) => {
      const isOfPods = rules.some(({ resources = [] }) => resources.some((each) => each === 'pods' || each === '*'));
      return isOfPods && objectSelector?.matchLabels?.[DEACTIVATED] === undefined;
    }),
  );
}
