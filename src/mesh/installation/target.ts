// The target of an installation, determined by the resource, the cluster and this release; or a failure, if one of them
// is invalid or the version must not be installed.
import type { Istio } from '../../api/istio.ts';
import type { Facts } from '../../controller/index.ts';
import { failure } from '../status/failures.ts';
import type { Failure } from '../status/failures.ts';
import { istioTag, readLastApplied } from '../custom-resource/last-applied.ts';
import type { LastApplied } from '../custom-resource/last-applied.ts';
import { INGRESS_GATEWAY, ISTIO_NAMESPACE } from '../names.ts';
import type { MeshSettings } from '../settings.ts';
import { IstioConfigMap, IstioPod, IstioService, ModuleConfigMap, Node } from '../tables.ts';
import { invalidSpec } from '../custom-resource/validate.ts';
import { versionGate } from '../version/gate.ts';
import { istiodTags } from '../version/running.ts';
import { COMPANIONS, featuresOf, isDualStack, loadBalancerFacts } from './operator/companions.ts';
import { desiredOperator } from './operator/desired.ts';
import { clusterFlavour, needsProxyProtocol } from './operator/flavour.ts';
import { MergeError } from './operator/merge.ts';
import type { IstioOperator } from './operator/operator.ts';
import { clusterSize } from './operator/size.ts';
import type { ClusterSize } from './operator/size.ts';

/** The installation to make. */
export interface Installable {
  readonly operator: IstioOperator;
  /** The version with the flavour of its images. */
  readonly tag: string;
  readonly size: ClusterSize;
  /** The configuration that was applied last. */
  readonly before: LastApplied;
  /** Whether the load balancer uses the proxy protocol. */
  readonly proxyProtocol: boolean;
  readonly controlPlaneVPA: boolean;
  /** An object of the cluster that could not be read, and was treated as absent. */
  readonly problem?: string;
}

export type Target = Installable | { readonly failure: Failure; readonly size?: ClusterSize };

/** The target for the active resource. */
export function targetOf(facts: Facts, istio: Istio, settings: MeshSettings): Target {
  const { spec = {} } = istio;
  const invalid = invalidSpec(spec, settings.allowExperimental);
  if (invalid !== undefined) return { failure: invalid };
  const before = readLastApplied(istio);
  if (typeof before === 'string') return { failure: failure('versionCheck', before) };
  const tag = istioTag(settings.istioVersion);
  const running = istiodTags(facts.list(IstioPod));
  const refused = versionGate(tag, { running, ...(before.tag !== undefined && { recorded: before.tag }) });
  if (refused !== undefined) return { failure: refused };
  const nodes = facts.list(Node);
  const size = clusterSize(nodes, istio.status?.clusterSize);
  const { disableCni, controlPlaneVPA, problem } = featuresOf(facts.get(ModuleConfigMap, COMPANIONS.features));
  const dualStack = isDualStack(facts.get(ModuleConfigMap, COMPANIONS.provisioning)) && settings.allowExperimental;
  const flavour = clusterFlavour(nodes);
  const balancer = loadBalancerFacts({
    elbDeprecated: facts.get(IstioConfigMap, COMPANIONS.elbDeprecated),
    gateway: facts.get(IstioService, { namespace: ISTIO_NAMESPACE, name: INGRESS_GATEWAY }),
    dualStack,
  });
  const { hub, istioVersion: version, imagePullSecret } = settings;
  try {
    const operator = desiredOperator(spec, {
      ...balancer,
      size,
      flavour,
      hub,
      version,
      disableCni,
      controlPlaneVPA,
      ...(imagePullSecret !== undefined && { imagePullSecret }),
    });
    const proxyProtocol = needsProxyProtocol(flavour, balancer);
    return { operator, tag, size, before, proxyProtocol, controlPlaneVPA, ...(problem !== undefined && { problem }) };
  } catch (error) {
    if (!(error instanceof MergeError)) throw error;
    return { failure: failure('merge', error.message), size };
  }
}
