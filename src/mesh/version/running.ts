// Which version of Istio runs, by the images of its pods.
import { ISTIO_NAMESPACE, MODULE_LABEL, MODULE_NAME } from '../names.ts';
import type { Pod } from '../workloads.ts';
import { coreOf, parseVersion } from './semver.ts';

/** The containers whose image is one of Istio's. */
const CONTAINERS = new Set(['discovery', 'istio-proxy', 'install-cni']);

/** The version that all pods of the control plane have; else why it can't be told. */
export type RunningVersion = { readonly version: string } | { readonly problem: string };

/** The version that runs. Pods of others in the namespace, and those that are going, do not count. */
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

/** Why the installation does not count as done; undefined when all pods run the target. */
export function versionMismatch(running: RunningVersion, target: string): string | undefined {
  if ('problem' in running) return running.problem;
  const parsed = parseVersion(target);
  const wanted = typeof parsed === 'string' ? target : coreOf(parsed);
  if (running.version === wanted) return undefined;
  return `istio-system pods version: ${running.version} do not match target version: ${wanted}`;
}

/** Tags of the images of the istiod pods that run, whoever installed them. */
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

/** The pods of istiod, whoever installed them, also those that are going. */
export function istiodPods(pods: Iterable<Pod>): readonly Pod[] {
  return [...pods].filter(
    ({ metadata: { namespace, labels } }) => namespace === ISTIO_NAMESPACE && labels?.['app'] === 'istiod',
  );
}

/** `registry:5000/istio/pilot:1.31.0-distroless@sha256:…` → `1.31.0-distroless`. */
function tagOf(image: string): string | undefined {
  return /^[^@\s]*\/?[^/@:\s]+:([\w][\w.-]*)(?:@\S+)?$/.exec(image)?.[1];
}
