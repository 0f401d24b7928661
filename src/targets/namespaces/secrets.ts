// Deletes credentials for a namespace that is gone and whose target was never made: the process may have crashed in
// between.
import { DeploymentTarget } from '../../api/targets.ts';
import { defineController } from '../../controller/index.ts';
import type { ControllerDefinition, Plan, View } from '../../controller/index.ts';
import { refOf, remove } from '../../kube/index.ts';
import { OF_TARGET } from '../names.ts';
import { Namespace, Secret } from '../objects.ts';
import { MADE_BY, MADE_BY_LABEL, OF_NAMESPACE } from './names.ts';

export function namespaceSecrets(): ControllerDefinition {
  return defineController<Secret>({
    name: 'namespace-secrets',
    kind: Secret,
    ownsStatus: false,
    plan: planSecret,
  });
}

/** Plans one Secret. */
export function planSecret(view: View, secret: Secret): Plan {
  const { labels, annotations = {}, name } = secret.metadata;
  const { [OF_TARGET]: ofTarget, [OF_NAMESPACE]: namespaceName } = annotations;
  if (labels?.[MADE_BY_LABEL] !== MADE_BY || ofTarget === undefined || namespaceName === undefined) return {};
  const target = view.get(DeploymentTarget, refOf(ofTarget));
  const namespace = view.get(Namespace, { name: namespaceName });
  const isUsed = target?.spec.kubernetesCredentials.clusterCredentialsSecret === name;
  const isPending =
    namespace?.metadata.annotations?.[OF_TARGET] === ofTarget && namespace.metadata.deletionTimestamp === undefined;
  return isUsed || isPending ? {} : { steps: [remove(Secret, secret)] };
}
