// The routing model: where a request goes in a mesh, and why.
//   const router = createRouter(worldOf(objects));
//   router.decide({ host: 'reviews.shop', port: 9080, path: '/', source: { namespace: 'shop', labels: { app: 'web' } } });
// `router.rulesFor` returns the underlying rules as data, for proofs. Controllers use `routerOf(view)`, which compiles
// each host once per process and wakes the reader when the result changes.
export { callersIn } from './callers.ts';
export { compileHost } from './compile/index.ts';
export { decide } from './decide.ts';
export type { Considered, Decision, PassedThrough, Redirected, Responded, Routed } from './decide.ts';
export { consideredData, decisionData } from './describe/decision-data.ts';
export type { ConsideredData, DecisionData } from './describe/decision-data.ts';
export { consideredLines, decisionLines } from './describe/decision-text.ts';
export { differenceText } from './describe/difference-text.ts';
export { explainLine, headerFlags } from './describe/explain-line.ts';
export { differences } from './describe/expectation.ts';
export type { Expectation } from './describe/expectation.ts';
export { whyNot } from './describe/why-not.ts';
export type { WhyNot } from './describe/why-not.ts';
export { trafficDiff } from './diff/traffic-diff.ts';
export type { TrafficChange, TrafficDiff, WorldChanges } from './diff/traffic-diff.ts';
export type { Mismatch } from './fits.ts';
export { forwardedPort, gatewayPorts, isLoopback } from './forwarded.ts';
export type { GatewayPorts } from './forwarded.ts';
export { ConfigMap, MESH_CONFIG, meshSettingsIn } from './mesh-config.ts';
export { isGatewaySource } from './request.ts';
export type { GatewaySource, MeshSource, Request, Source } from './request.ts';
export { routerOf } from './models.ts';
export { createRouter } from './router.ts';
export type { Router } from './router.ts';
export type * from './rules.ts';
export { worldOfFacts, worldTables } from './world-facts.ts';
export { isOfWorld, worldKinds, worldOf } from './world-objects.ts';
export { worldProblem } from './world-shape.ts';
export { DEFAULT_MESH } from './world.ts';
export type { MeshService, MeshSettings, Workload, World } from './world.ts';
export { prove } from './prove/prove.ts';
export type { Counterexample, Proof } from './prove/prove.ts';
export type { ProvenEnvironment } from './prove/effects.ts';
