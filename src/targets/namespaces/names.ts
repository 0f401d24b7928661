// Names that the namespace provisioner uses.
import type { DeploymentTargetClaim } from '../../api/targets.ts';
import { digest, joinName, REQUESTED_NAMESPACE } from '../names.ts';

/** Holds a target until its namespace is gone. */
export const NAMESPACE_FINALIZER = 'offshoot.dev/namespace';
/** On a namespace and its Secret: the provisioner that made them. */
export const MADE_BY_LABEL = 'offshoot.dev/provisioner';
export const MADE_BY = 'namespace';
/**
 * On a namespace: its target was made, so that the namespace does not look new when the target is deleted. The value is
 * the uid of that target; earlier versions wrote `true`.
 */
export const TARGET_MADE = 'offshoot.dev/target-made';
/** On a Secret with credentials: the namespace that they are for. */
export const OF_NAMESPACE = 'offshoot.dev/place';
/** The service account that the credentials are for. */
export const ACCOUNT = 'deployer';

/** The name of the namespace for a claim: the requested one, or a generated one. */
export function namespaceNameFor(claim: DeploymentTargetClaim): string {
  const { name, namespace, uid = '', annotations } = claim.metadata;
  return annotations?.[REQUESTED_NAMESPACE] ?? joinName(`${namespace}-${name}`.replaceAll('.', '-'), digest(uid));
}

/** The name of the Secret with access to a namespace, in the namespace of its target. */
export function secretNameFor(target: string, namespace: string): string {
  return joinName(target, digest(namespace), 253);
}

/** The names of a warm target and of its namespace: `slot` counts those that a class has in one namespace. */
export function warmNames(home: string, className: string, slot: number): { target: string; namespace: string } {
  const id = digest(`${home}/${className}/${slot}`);
  return {
    target: joinName(className, id),
    namespace: joinName(`${home}-${className}`.replaceAll('.', '-'), id),
  };
}
