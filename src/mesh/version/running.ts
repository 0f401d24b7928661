// The running version of Istio, from the images of its pods.
import { ISTIO_NAMESPACE, MODULE_LABEL, MODULE_NAME } from '../names.ts';
import type { Pod } from '../workloads/workloads.ts';
import { coreOf, parseVersion } from './semver.ts';

/** The containers with images of Istio. */
const CONTAINERS = new Set(['discovery', 'istio-proxy', 'install-cni']);

/** The version of all pods of the control plane, or why it is not known. */
export type RunningVersion = { readonly version: string } | { readonly problem: string };

/** The running version. Other pods in the namespace, and terminating ones, are ignored. */
export function runningVersion(pods: Iterable<Pod>): RunningVersion {
  let first: string | undefined;
  for (const pod of pods) {
    const { namespace, labels = {}, deletionTimestamp, name } = pod.metadata;
    if (namespace !== ISTIO_NAMESPACE || labels[MODULE_LABEL] !== MODULE_NAME || deletionTimestamp !== undefined) {
      continue;
    }
    for (const { name: container, image = '' } of pod.spec?.containers ?? []) {
      if (!CONTAINERS.has(container)) continue;
      const tag = tagOf(image);
      if (tag === undefined) return { problem: `Unable to parse container image reference: ${image}` };
      const parsed = parseVersion(tag);
      if (typeof parsed === 'string') return { problem: 'Invalid Semantic Version' };
      const version = coreOf(parsed);
      first ??= version;
      if (version !== first) {
        return { problem: `Image version of pod ${name}: ${version} do not match version: ${first}` };
      }
    }
  }
  return first === undefined ? { problem: 'Unable to obtain installed Istio image version' } : { version: first };
}

/** Why the installation is not done; undefined if all pods run the target version. */
export function versionMismatch(running: RunningVersion, target: string): string | undefined {
  if ('problem' in running) return running.problem;
  const parsed = parseVersion(target);
  const targetVersion = typeof parsed === 'string' ? target : coreOf(parsed);
  if (running.version === targetVersion) return undefined;
  return `istio-system pods version: ${running.version} do not match target version: ${targetVersion}`;
}

/** The image tags of the running istiod pods, also those that others installed. */
export function istiodTags(pods: Iterable<Pod>): string[] {
  const tags = new Set<string>();
  for (const { metadata, spec } of istiodPods(pods)) {
    if (metadata.deletionTimestamp !== undefined) continue;
    const image = spec?.containers?.find(({ name }) => name === 'discovery')?.image;
    const tag = image === undefined ? undefined : tagOf(image);
    if (tag !== undefined) tags.add(tag);
  }
  return [...tags].sort();
}

/** All pods of istiod, also terminating ones and those that others installed. */
export function istiodPods(pods: Iterable<Pod>): readonly Pod[] {
  return [...pods].filter(
    ({ metadata: { namespace, labels } }) => namespace === ISTIO_NAMESPACE && labels?.['app'] === 'istiod',
  );
}

/** `registry:5000/istio/pilot:1.31.0-distroless@sha256:…` → `1.31.0-distroless`. */
function tagOf(image: string): string | undefined {
  return /^[^@\s]*\/?[^/@:\s]+:([\w][\w.-]*)(?:@\S+)?$/.exec(image)?.[1];
}
