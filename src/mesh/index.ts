// The life of Istio: install, upgrade, restart, uninstall. So far what is decided, as pure functions.
export { condition, manualRestartRequired } from './conditions.ts';
export type { Reason } from './conditions.ts';
export { worstOf } from './failures.ts';
export type { Failure } from './failures.ts';
export { istioTag, readLastApplied, withApplied, writeLastApplied } from './last-applied.ts';
export type { LastApplied } from './last-applied.ts';
export * from './names.ts';
export { notRuling, rulingIstio } from './ruling.ts';
export { invalidSpec } from './validate.ts';
export { versionGate } from './version/gate.ts';
export { istiodTags, runningVersion, versionMismatch } from './version/running.ts';
