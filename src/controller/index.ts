// The controller room: define a controller by a pure plan, run it with a manager.
export { conditionsOf, statusOf, withCondition } from './conditions.ts';
export type { Condition, PlannedCondition, Status } from './conditions.ts';
export { defineController } from './definition.ts';
export type { ControllerDefinition, Plan, PlannedEvent } from './definition.ts';
export { createLogger } from './logger.ts';
export type { Logger, LoggerOptions } from './logger.ts';
export { LeadershipLost, Manager } from './manager.ts';
export type { ManagerOptions } from './manager.ts';
export { createMetrics } from './metrics.ts';
export type { ControllerMetrics, Metrics } from './metrics.ts';
export { PRIORITY, Queue } from './queue.ts';
export type { QueueMetrics, QueueOptions } from './queue.ts';
export { Reads } from './view.ts';
export type { View } from './view.ts';
