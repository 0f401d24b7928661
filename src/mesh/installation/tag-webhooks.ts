// Webhooks of revision tags beside the injector itself: two that are active at once inject everything twice.
import type { AnyObject } from '../../kube/index.ts';
import { jsonEqual } from '../../watchable/index.ts';
import { webhooksOf } from './ownership.ts';

const NEVER = { 'istio.io/deactivated': 'never-match' };

/** Of all MutatingWebhookConfigurations, those of the tag `default` that have to go because the injector is active. */
export function conflictingTags(configurations: Iterable<AnyObject>): readonly AnyObject[] {
  const all = [...configurations];
  const labels = ({ metadata }: AnyObject): Readonly<Record<string, string>> => metadata.labels ?? {};
  const injector = all.find((each) => {
    const { 'istio.io/rev': revision, 'istio.io/tag': tag } = labels(each);
    return revision === 'default' && tag === undefined;
  });
  if (injector === undefined || isDeactivated(injector)) return [];
  return all.filter((each) => labels(each)['istio.io/tag'] === 'default');
}

function isDeactivated(configuration: AnyObject): boolean {
  return webhooksOf(configuration).some(
    ({ namespaceSelector, objectSelector }) =>
      jsonEqual(namespaceSelector?.matchLabels, NEVER) && jsonEqual(objectSelector?.matchLabels, NEVER),
  );
}
