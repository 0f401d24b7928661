// The patch engine: pure functions from an object and a patch to the patched object. Called by the REST layer.
export { applyPatch } from './apply/apply.ts';
export { PatchError } from './errors.ts';
export { applyJsonPatch } from './json-patch.ts';
export { applyMergePatch } from './merge-patch.ts';
export { withManagersFromObject, withManagersFromScale, type ReplicasPaths } from './managed-fields/scale-owners.ts';
export { applyStrategicMergePatch } from './strategic/strategic.ts';
export { trackUpdate } from './managed-fields/track-update.ts';
export { MissingVersion } from './managed-fields/versions.ts';
export type { Versions } from './managed-fields/versions.ts';
