// The patch engine: pure functions from an object and a patch to the patched object. The REST layer calls these.
export { applyPatch, type ApplyRequest } from './apply.ts';
export { ApplyConflict, PatchError, type PatchCause } from './errors.ts';
export { applyJsonPatch } from './json-patch.ts';
export { applyMergePatch, createMergePatch } from './merge-patch.ts';
export { applyStrategicMergePatch } from './strategic.ts';
export { trackUpdate, type UpdateRequest } from './track-update.ts';
