// Which objects may be left when all claims are deleted: only those that a class with policy Retain keeps.
import { ManagedEnvironment, Space, SpaceRequest } from '../../../src/api/spaces.ts';
import { DeploymentTarget, DeploymentTargetClaim, DeploymentTargetClass } from '../../../src/api/targets.ts';
import type { Kind, KubeObject } from '../../../src/kube/index.ts';
import { Namespace, Secret } from '../../../src/targets/objects.ts';
import { holderOf, uidOf } from './model.ts';

interface Store {
  all<T extends KubeObject>(kind: Kind<T>): readonly T[];
}

const POLICY = 'dt.appstudio.redhat.com/reclaim-policy';
const PROVISIONED_BY = 'provisioner.appstudio.redhat.com/provisioned-by';

/** The objects that should have been deleted. */
export function leftovers(store: Store, ours: ReadonlySet<string>): string[] {
  const targets = store.all(DeploymentTarget);
  const requests = store.all(SpaceRequest);
  const spaces = store.all(Space);
  const isTarget = (name = ''): boolean =>
    targets.some(({ metadata }) => `${metadata.namespace}/${metadata.name}` === name);
  const mayRemain = ({ metadata }: KubeObject, className = ''): boolean => {
    const ofClass = store.all(DeploymentTargetClass).find((each) => each.metadata.name === className);
    return (ofClass?.spec.reclaimPolicy ?? metadata.annotations?.[POLICY]) === 'Retain';
  };
  const classOf = ({ metadata }: KubeObject): string => metadata.annotations?.['offshoot.dev/class'] ?? '';

  return [
    ...leftOf(store.all(DeploymentTargetClaim)),
    ...leftOf(store.all(ManagedEnvironment)),
    ...leftOf(targets, (target) => {
      const isPersons = target.metadata.annotations?.[PROVISIONED_BY] === undefined;
      // A target without a reference to a claim was released, as the class of its claim said.
      const isReleased = holderOf(target) === '' && uidOf(target) === undefined && target.status?.phase !== 'Bound';
      return isLive(target) && (isPersons || isReleased || mayRemain(target, target.spec.deploymentTargetClassName));
    }),
    ...leftOf(requests, (request) => {
      const { namespace, labels } = request.metadata;
      const hasTarget = isTarget(`${namespace}/${labels?.['appstudio.openshift.io/dt']}`);
      return isLive(request) && (hasTarget || mayRemain(request, classOf(request)));
    }),
    ...leftOf(spaces, (space) => {
      const name = space.metadata.labels?.['toolchain.dev.openshift.com/spacerequest'];
      return isLive(space) && requests.some(({ metadata }) => metadata.name === name);
    }),
    ...leftOf(store.all(Namespace), (namespace) => {
      const { name, labels, annotations } = namespace.metadata;
      const space = labels?.['toolchain.dev.openshift.com/space'];
      if (ours.has(name)) return true;
      if (!isLive(namespace)) return false;
      if (space !== undefined) return spaces.some(({ metadata }) => metadata.name === space);
      // A namespace that was released, as its class said then, belongs to nobody.
      if (labels?.['offshoot.dev/provisioner'] === undefined) return true;
      return isTarget(annotations?.['offshoot.dev/target']) || mayRemain(namespace, classOf(namespace));
    }),
    ...leftOf(store.all(Secret), ({ metadata }) => {
      const isOwned = metadata.ownerReferences?.some(({ uid }) => requests.some((each) => each.metadata.uid === uid));
      return (
        isOwned ?? targets.some(({ spec }) => spec.kubernetesCredentials.clusterCredentialsSecret === metadata.name)
      );
    }),
  ];
}

/** What should happen to bound targets when all claims are deleted: `Delete` or `Retain` by name. */
export function expectedPolicies(store: Store): Map<string, string> {
  const policyOf = (className: string): string | undefined =>
    store.all(DeploymentTargetClass).find(({ metadata }) => metadata.name === className)?.spec.reclaimPolicy;
  const targets = store.all(DeploymentTarget);
  return new Map(
    store.all(DeploymentTargetClaim).flatMap(({ spec, status }) => {
      const target = targets.find(({ metadata }) => metadata.name === spec.targetName);
      if (status?.phase !== 'Bound' || target?.status?.phase !== 'Bound' || !isLive(target)) return [];
      // The class of the claim decides, then that of the target, then the policy that was recorded on the target.
      const said = policyOf(spec.deploymentTargetClassName) ?? policyOf(target.spec.deploymentTargetClassName);
      return [[target.metadata.name, said ?? target.metadata.annotations?.[POLICY] ?? 'Retain']];
    }),
  );
}

/** The targets that did not follow their policy. */
export function policyViolations(store: Store, expected: ReadonlyMap<string, string>): string[] {
  return [...expected].flatMap(([name, policy]) => {
    const target = store.all(DeploymentTarget).find(({ metadata }) => metadata.name === name);
    const isReleased = target?.status?.phase === 'Released' && holderOf(target) === '';
    const isRight = policy === 'Delete' ? target === undefined : isReleased;
    return isRight ? [] : [`target ${name} is ${target?.status?.phase ?? 'gone'}: ${policy} was wanted`];
  });
}

function leftOf<T extends KubeObject>(
  objects: readonly T[],
  mayRemain: (object: T) => boolean = () => false,
): string[] {
  return objects.filter((each) => !mayRemain(each)).map(({ kind, metadata }) => `${kind} ${metadata.name} is left`);
}

function isLive({ metadata }: KubeObject): boolean {
  return metadata.deletionTimestamp === undefined;
}
