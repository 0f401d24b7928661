// The patch engine: pure functions from an object and a patch to the patched object. Called by the REST layer.
export { applyPatch } from './apply.ts';
export { PatchError } from './errors.ts';
export { applyJsonPatch } from './json-patch.ts';
export { applyMergePatch } from './merge-patch.ts';
export { withManagersFromObject, withManagersFromScale, type ReplicasPaths } from './scale-owners.ts';
export { applyStrategicMergePatch } from './strategic.ts';
export { trackUpdate } from './track-update.ts';
export { MissingVersion } from './versions.ts';
export type { Versions } from './versions.ts';
