// The writes for the resources that we add to the mesh, and the removal of those that are no longer needed.
import type { Istio } from '../../api/istio.ts';
import type { View } from '../../controller/index.ts';
import { own, remove } from '../../kube/index.ts';
import type { AnyObject, Kind, Step } from '../../kube/index.ts';
import { failure } from '../status/failures.ts';
import type { Failure } from '../status/failures.ts';
import { kindOf } from '../installation/kinds.ts';
import { apiServerPort, COMPANIONS } from '../installation/operator/companions.ts';
import type { Writes } from '../installation/plan.ts';
import { DISCLAIMER, ISTIO_NAMESPACE, MODULE_LABEL, MODULE_NAME } from '../names.ts';
import type { MeshSettings } from '../settings.ts';
import {
  ApiServerService,
  IstioEnvoyFilter,
  ModuleConfigMap,
  Namespace,
  ofModule,
  VerticalPodAutoscaler,
} from '../tables.ts';
import { meshResources, withUpdatedAt } from './resources.ts';

/** The facts besides the active resource that determine the resources. */
interface ResourceInputs {
  readonly proxyProtocol?: boolean;
  readonly controlPlaneVPA?: boolean;
}

/** The writes for the resources of the mesh. */
export function resourceWrites(view: View, istio: Istio, inputs: ResourceInputs, settings: MeshSettings): Writes {
  const { istioVersion, operatorVersion, domain } = settings;
  const resources = meshResources({
    istio,
    istioVersion,
    operatorVersion,
    proxyProtocol: inputs.proxyProtocol ?? false,
    controlPlaneVPA: inputs.controlPlaneVPA ?? false,
    autoscalersServed: view.served(ofModule(VerticalPodAutoscaler)),
    apiServerPort: apiServerPort(view.get(ApiServerService, COMPANIONS.apiServer)),
    ...(domain !== undefined && { domain }),
  });
  const failures: Failure[] = [];
  const steps: Step[] = [];
  const write = (kind: Kind, object: AnyObject, step: Step): void => {
    const refusal = view.refusal(kind, object.metadata);
    if (refusal === undefined) steps.push(step);
    else failures.push(failure('resource', refusal, { subject: `${object.kind}/${object.metadata.name}` }));
  };
  const isTerminating = view.get(Namespace, { name: ISTIO_NAMESPACE })?.metadata.deletionTimestamp !== undefined;
  for (const object of resources.apply) {
    const kind = tableOf(object);
    // Nothing can be created in a namespace that is being deleted.
    if (!view.served(kind) || (isTerminating && object.metadata.namespace === ISTIO_NAMESPACE)) continue;
    const desired = withUpdatedAt(object, view.get(kind, object.metadata), view.now());
    write(kind, object, own(kind, desired));
  }
  for (const object of resources.remove) {
    const kind = tableOf(object);
    const live = view.get(kind, object.metadata);
    if (live !== undefined && isOurs(live)) write(kind, live, remove(kind, live));
  }
  return { steps, failures };
}

/** Whether we or the Kyma operator made an object; others may use the same name. */
function isOurs({ metadata: { labels = {}, annotations = {} } }: AnyObject): boolean {
  return labels[MODULE_LABEL] === MODULE_NAME || DISCLAIMER in annotations || labels['grafana_dashboard'] === '1';
}

function tableOf(object: AnyObject): Kind {
  if (object.kind === 'EnvoyFilter') return IstioEnvoyFilter;
  return object.kind === 'ConfigMap' ? (ModuleConfigMap as Kind) : ofModule(kindOf(object));
}
