// Webhooks of revision tags that conflict with the injector: two active webhooks inject every pod twice.
import type { AnyObject } from '../../kube/index.ts';
import { jsonEqual } from '../../watchable/index.ts';
import { webhooksOf } from './ownership.ts';

const NEVER = { 'istio.io/deactivated': 'never-match' };

/** The MutatingWebhookConfigurations of the tag `default` to remove because the injector is active. */
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
