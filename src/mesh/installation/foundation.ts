// The objects that Istio's manifests require: its namespace, and the PriorityClass of its pods.
import type { AnyObject, Kind } from '../../kube/index.ts';
import { COMPONENT_LABEL } from './components.ts';
import { kindsMadeAnnotation } from './kinds-made.ts';
import {
  DISCLAIMER,
  DISCLAIMER_TEXT,
  ISTIO_NAMESPACE,
  MODULE_LABEL,
  MODULE_NAME,
  PRIORITY_CLASS,
  WARDEN_LABEL,
} from '../names.ts';

/** The objects to apply before the first component. Labels and annotations of others on the namespace are kept. */
export function foundation(kinds: readonly Kind[] = []): readonly AnyObject[] {
  return [
    {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: {
        name: ISTIO_NAMESPACE,
        labels: { [WARDEN_LABEL]: 'enabled', [MODULE_LABEL]: MODULE_NAME },
        annotations: { [DISCLAIMER]: DISCLAIMER_TEXT, ...kindsMadeAnnotation(kinds) },
      },
    },
    {
      apiVersion: 'scheduling.k8s.io/v1',
      kind: 'PriorityClass',
      metadata: { name: PRIORITY_CLASS, labels: { [MODULE_LABEL]: MODULE_NAME, [COMPONENT_LABEL]: 'Base' } },
      value: 2_100_000,
      description: 'Scheduling priority of the Istio control plane.',
    },
  ];
}
