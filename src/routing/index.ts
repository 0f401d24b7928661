// Mesh-neutral routing rules → the configuration of a mesh.
export { FEATURES } from './backends/backend.ts';
export { BACKENDS } from './backends/index.ts';
export type { BackendName } from './backends/index.ts';
export { routing } from './controllers/index.ts';
export type { Settings } from './controllers/settings.ts';
export { describeRule } from './describe/rule.ts';
export { problemsOf, stateOf } from './describe/state.ts';
export { decodeSnapshot, pathText, shapeProblem } from './decode/snapshot.ts';
export type { Source } from './decode/snapshot.ts';
export type { FieldPath } from './decode/proto-json.ts';
export { CODES } from './codes.ts';
export type { Diagnostic, Problem } from './errors.ts';
export type { MeshPlan, Mode, Snapshot } from './model.ts';
export { translate } from './translate.ts';
export type { TranslateOptions, Translated, Translation } from './translate.ts';
