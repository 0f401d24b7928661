// Converts the built-in kinds that differ between versions: events in two groups, autoscalers in two versions.
import type { ApiObject } from '../resource.ts';
import { parseJson, stringifyJson } from '../../kube/json.ts';
import { at, isObject, numberAt, objects, stringMap, text } from './read.ts';

type FieldNames = Readonly<Record<string, string>>;

/** Field names of an event in the core group, and in events.k8s.io. */
const eventFields: FieldNames = {
  involvedObject: 'regarding',
  message: 'note',
  source: 'deprecatedSource',
  firstTimestamp: 'deprecatedFirstTimestamp',
  lastTimestamp: 'deprecatedLastTimestamp',
  count: 'deprecatedCount',
  reportingComponent: 'reportingController',
};
const coreFields: FieldNames = Object.fromEntries(Object.entries(eventFields).map(([core, other]) => [other, core]));

function renamed(object: ApiObject, names: FieldNames, apiVersion: string): ApiObject {
  const entries = Object.entries(object).map(([key, value]) => [names[key] ?? key, value]);
  return { ...Object.fromEntries(entries), apiVersion };
}

function withoutEmpty(object: ApiObject, fields: readonly string[]): ApiObject {
  return Object.fromEntries(Object.entries(object).filter(([key, value]) => value !== '' || !fields.includes(key)));
}

const metricsAnnotation = 'autoscaling.alpha.kubernetes.io/metrics';
const behaviorAnnotation = 'autoscaling.alpha.kubernetes.io/behavior';
const conditionsAnnotation = 'autoscaling.alpha.kubernetes.io/conditions';
const currentMetricsAnnotation = 'autoscaling.alpha.kubernetes.io/current-metrics';
const v2Annotations = [metricsAnnotation, behaviorAnnotation, conditionsAnnotation, currentMetricsAnnotation];

function isCpuUtilization(metric: ApiObject): boolean {
  return (
    metric['type'] === 'Resource' &&
    text(metric, 'resource', 'name') === 'cpu' &&
    text(metric, 'resource', 'target', 'type') === 'Utilization'
  );
}

/** v1 has a field for the CPU target only; annotations keep everything else of v2. */
function autoscalerToV1(object: ApiObject): ApiObject {
  const { metrics: _metrics, behavior, ...spec } = isObject(object['spec']) ? object['spec'] : {};
  const { currentMetrics: _current, conditions, ...status } = isObject(object['status']) ? object['status'] : {};
  const specMetrics = objects(object, 'spec', 'metrics');
  const currentMetrics = objects(object, 'status', 'currentMetrics');
  const cpu = specMetrics.find(isCpuUtilization);
  const current = currentMetrics.find((metric) => text(metric, 'resource', 'name') === 'cpu');
  const others = specMetrics.filter((metric) => metric !== cpu);
  const target = numberAt(cpu, 'resource', 'target', 'averageUtilization');
  const used = numberAt(current, 'resource', 'current', 'averageUtilization');
  const annotations = {
    ...stringMap(object, 'metadata', 'annotations'),
    ...(others.length > 0 && { [metricsAnnotation]: stringifyJson(others) }),
    ...(behavior !== undefined && { [behaviorAnnotation]: stringifyJson(behavior) }),
    ...(conditions !== undefined && { [conditionsAnnotation]: stringifyJson(conditions) }),
    ...(currentMetrics.length > 0 && { [currentMetricsAnnotation]: stringifyJson(currentMetrics) }),
  };
  return withAllAnnotations(
    {
      ...object,
      apiVersion: 'autoscaling/v1',
      spec: { ...spec, ...(target !== undefined && { targetCPUUtilizationPercentage: target }) },
      status: {
        currentReplicas: 0,
        ...status,
        ...(used !== undefined && { currentCPUUtilizationPercentage: used }),
      },
    },
    annotations,
  );
}

function autoscalerToV2(object: ApiObject): ApiObject {
  const { targetCPUUtilizationPercentage: target, ...spec } = isObject(object['spec']) ? object['spec'] : {};
  const { currentCPUUtilizationPercentage: _used, ...status } = isObject(object['status']) ? object['status'] : {};
  const annotations = { ...stringMap(object, 'metadata', 'annotations') };
  const fromAnnotation = (name: string): unknown => readJson(annotations[name]);
  const others = fromAnnotation(metricsAnnotation);
  const behavior = fromAnnotation(behaviorAnnotation);
  const conditions = fromAnnotation(conditionsAnnotation);
  const current = fromAnnotation(currentMetricsAnnotation);
  const cpu = {
    type: 'Resource',
    resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: target } },
  };
  const metrics = [...(target === undefined ? [] : [cpu]), ...(Array.isArray(others) ? others : [])];
  for (const name of v2Annotations) delete annotations[name];
  return withAllAnnotations(
    {
      ...object,
      apiVersion: 'autoscaling/v2',
      spec: { ...spec, ...(metrics.length > 0 && { metrics }), ...(behavior !== undefined && { behavior }) },
      ...(object['status'] !== undefined && {
        status: {
          ...status,
          ...(current !== undefined && { currentMetrics: current }),
          ...(conditions !== undefined && { conditions }),
        },
      }),
    },
    annotations,
  );
}

/** Ignores annotations that are not JSON: a user may have written them. */
function readJson(text: string | undefined): unknown {
  if (text === undefined) return undefined;
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

function withAllAnnotations(object: ApiObject, annotations: Readonly<Record<string, string>>): ApiObject {
  const given = at(object, 'metadata');
  const { annotations: _old, ...metadata } = isObject(given) ? given : {};
  return { ...object, metadata: Object.keys(annotations).length > 0 ? { ...metadata, annotations } : metadata };
}

/** Converts an object to another version. For most kinds only `apiVersion` changes. */
export function convertObject(object: ApiObject, apiVersion: string): ApiObject {
  const from = text(object, 'apiVersion');
  if (from === apiVersion) return object;
  if (object['kind'] === 'Event' && from === 'v1' && apiVersion === 'events.k8s.io/v1')
    return withoutEmpty(renamed(object, eventFields, apiVersion), ['reportingController', 'reportingInstance']);
  if (object['kind'] === 'Event' && from === 'events.k8s.io/v1' && apiVersion === 'v1')
    return { reportingComponent: '', reportingInstance: '', ...renamed(object, coreFields, apiVersion) };
  if (from === 'autoscaling/v2' && apiVersion === 'autoscaling/v1') return autoscalerToV1(object);
  if (from === 'autoscaling/v1' && apiVersion === 'autoscaling/v2') return autoscalerToV2(object);
  return { ...object, apiVersion };
}
