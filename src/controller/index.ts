// Controllers: define one by a pure plan, and run it with a manager.
export type { AdmissionHandler, AdmissionRequest, AdmissionResponse } from './webhook/admission.ts';
export type { UserInfo } from '../kube/reviews.ts';
export { CertificateFiles } from './webhook/certificate-files.ts';
export { ManagedCertificates } from './webhook/certificates.ts';
export type { Certificates } from './webhook/certificates.ts';
export type { Chore, ChoreContext } from './chore.ts';
export { conditionsOf, statusOf, withCondition } from './conditions.ts';
export type { Condition, PlannedCondition, Status } from './conditions.ts';
export { defineController } from './definition.ts';
export type {
  Attempt,
  ControllerDefinition,
  Failure,
  Notes,
  Plan,
  PlannedEvent,
  RefusedAttempt,
  StatusTiming,
  TableGauge,
  WriteCounter,
} from './definition.ts';
export { createLogger } from './logger.ts';
export type { Logger, LoggerOptions } from './logger.ts';
export { LeadershipLost, Manager } from './manager.ts';
export type { Address, ManagerOptions } from './manager.ts';
export { createMetrics } from './metrics/metrics.ts';
export type { ComputedGauge, ControllerMetrics, Metrics, Series } from './metrics/metrics.ts';
export { METRICS } from './metrics/catalogue.ts';
export type { MetricDefinition } from './metrics/catalogue.ts';
export { countByCondition, countByState } from './metrics/of-objects.ts';
export { isRefusal, refusalText } from './plan-and-apply.ts';
export type { ReasonCatalogue, ReasonEntry } from './reasons.ts';
export { PRIORITY, Queue } from './queue.ts';
export type { QueueMetrics, QueueOptions } from './queue.ts';
export { changesOf, CLUSTER, SOMEBODY } from './forecast/changes.ts';
export type { Change, Planned, Write } from './forecast/changes.ts';
export type { FieldChange } from './forecast/diff.ts';
export { forecast } from './forecast/forecast.ts';
export type { Forecast, ForecastOptions, Intent, Stalled } from './forecast/forecast.ts';
export { reportFollowing } from './forecast/following.ts';
export type { Question } from './forecast/following.ts';
export { namedIn, relatedTo } from './forecast/related.ts';
export type { Named } from './forecast/related.ts';
export { reportedChange, reportForecast, reportOf, UNKNOWN } from './forecast/report.ts';
export type { ForecastReport, ReportedChange, ReportedStall } from './forecast/report.ts';
export { defineModel, factsOf } from './facts.ts';
export type { Facts, Model } from './facts.ts';
export { exportTraces, parseHeaders } from './tracing/otlp.ts';
export type { Exporter, OtlpOptions } from './tracing/otlp.ts';
export { Reads } from './view.ts';
export type { Refusal, View } from './view.ts';
export { WhatIf } from './what-if.ts';
export { clientConfigOf, removeConfiguration, WebhookRegistration } from './webhook/registration.ts';
export type { ValidatingWebhookConfiguration, WebhookAddress } from './webhook/registration.ts';
export { serveWebhooks } from './webhook/server.ts';
export type { WebhookServer, WebhookServerOptions } from './webhook/server.ts';
