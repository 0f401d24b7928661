// What may be left when there are no claims any more: what a class says is kept, as a whole, and nothing else.
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

/** What is there that should have gone; empty when nothing is. */
export function leftovers(store: Store, ours: ReadonlySet<string>): string[] {
  const targets = store.all(DeploymentTarget);
  const requests = store.all(SpaceRequest);
  const spaces = store.all(Space);
  const isTarget = (name = ''): boolean =>
    targets.some(({ metadata }) => `${metadata.namespace}/${metadata.name}` === name);
  const mayStay = ({ metadata }: KubeObject, className = ''): boolean => {
    const ofClass = store.all(DeploymentTargetClass).find((each) => each.metadata.name === className);
    return (ofClass?.spec.reclaimPolicy ?? metadata.annotations?.[POLICY]) === 'Retain';
  };
  const classOf = ({ metadata }: KubeObject): string => metadata.annotations?.['offshoot.dev/class'] ?? '';

  return [
    ...which(store.all(DeploymentTargetClaim)),
    ...which(store.all(ManagedEnvironment)),
    ...which(targets, (target) => {
      const isPersons = target.metadata.annotations?.[PROVISIONED_BY] === undefined;
      // Without a trace of a claim it was released, as the class of its claim said.
      const isReleased = holderOf(target) === '' && uidOf(target) === undefined && target.status?.phase !== 'Bound';
      return isLive(target) && (isPersons || isReleased || mayStay(target, target.spec.deploymentTargetClassName));
    }),
    ...which(requests, (request) => {
      const { namespace, labels } = request.metadata;
      const hasTarget = isTarget(`${namespace}/${labels?.['appstudio.openshift.io/dt']}`);
      return isLive(request) && (hasTarget || mayStay(request, classOf(request)));
    }),
    ...which(spaces, (space) => {
      const name = space.metadata.labels?.['toolchain.dev.openshift.com/spacerequest'];
      return isLive(space) && requests.some(({ metadata }) => metadata.name === name);
    }),
    ...which(store.all(Namespace), (namespace) => {
      const { name, labels, annotations } = namespace.metadata;
      const space = labels?.['toolchain.dev.openshift.com/space'];
      if (ours.has(name)) return true;
      if (!isLive(namespace)) return false;
      if (space !== undefined) return spaces.some(({ metadata }) => metadata.name === space);
      // One that was let go, as its class said then, is nobody's.
      if (labels?.['offshoot.dev/provisioner'] === undefined) return true;
      return isTarget(annotations?.['offshoot.dev/target']) || mayStay(namespace, classOf(namespace));
    }),
    ...which(store.all(Secret), ({ metadata }) => {
      const isOwned = metadata.ownerReferences?.some(({ uid }) => requests.some((each) => each.metadata.uid === uid));
      return (
        isOwned ?? targets.some(({ spec }) => spec.kubernetesCredentials.clusterCredentialsSecret === metadata.name)
      );
    }),
  ];
}

/** What is to become of the targets that claims have, when all claims are given up: `Delete` or `Retain` by name. */
export function fates(store: Store): Map<string, string> {
  const policyOf = (className: string): string | undefined =>
    store.all(DeploymentTargetClass).find(({ metadata }) => metadata.name === className)?.spec.reclaimPolicy;
  const targets = store.all(DeploymentTarget);
  return new Map(
    store.all(DeploymentTargetClaim).flatMap(({ spec, status }) => {
      const target = targets.find(({ metadata }) => metadata.name === spec.targetName);
      if (status?.phase !== 'Bound' || target?.status?.phase !== 'Bound' || !isLive(target)) return [];
      // The class of the claim decides, then that of the target, then what was written down when that was known.
      const said = policyOf(spec.deploymentTargetClassName) ?? policyOf(target.spec.deploymentTargetClassName);
      return [[target.metadata.name, said ?? target.metadata.annotations?.[POLICY] ?? 'Retain']];
    }),
  );
}

/** Which targets did not meet their fate. */
export function wrongFates(store: Store, expected: ReadonlyMap<string, string>): string[] {
  return [...expected].flatMap(([name, fate]) => {
    const target = store.all(DeploymentTarget).find(({ metadata }) => metadata.name === name);
    const isReleased = target?.status?.phase === 'Released' && holderOf(target) === '';
    const isRight = fate === 'Delete' ? target === undefined : isReleased;
    return isRight ? [] : [`target ${name} is ${target?.status?.phase ?? 'gone'}: ${fate} was wanted`];
  });
}

function which<T extends KubeObject>(objects: readonly T[], mayStay: (object: T) => boolean = () => false): string[] {
  return objects.filter((each) => !mayStay(each)).map(({ kind, metadata }) => `${kind} ${metadata.name} is left`);
}

function isLive({ metadata }: KubeObject): boolean {
  return metadata.deletionTimestamp === undefined;
}
