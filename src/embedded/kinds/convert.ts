// Built-in kinds that are served in two shapes: events in two groups, autoscalers in two versions.
import type { ApiObject } from '../resource.ts';
import { parseJson, stringifyJson } from '../../kube/json.ts';
import { at, isObject, numberAt, objects, stringMap, text } from './read.ts';

type FieldNames = Readonly<Record<string, string>>;

/** What the core group calls a field of an event, and what events.k8s.io calls it. */
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
const ownAnnotations = [metricsAnnotation, behaviorAnnotation, conditionsAnnotation, currentMetricsAnnotation];

function isCpuUtilization(metric: ApiObject): boolean {
  return (
    metric['type'] === 'Resource' &&
    text(metric, 'resource', 'name') === 'cpu' &&
    text(metric, 'resource', 'target', 'type') === 'Utilization'
  );
}

/** Version 1 has one number for the CPU; everything else of version 2 travels in annotations. */
function autoscalerToV1(object: ApiObject): ApiObject {
  const { metrics: _metrics, behavior, ...spec } = isObject(object['spec']) ? object['spec'] : {};
  const { currentMetrics: _current, conditions, ...status } = isObject(object['status']) ? object['status'] : {};
  const wanted = objects(object, 'spec', 'metrics');
  const found = objects(object, 'status', 'currentMetrics');
  const cpu = wanted.find(isCpuUtilization);
  const current = found.find((metric) => text(metric, 'resource', 'name') === 'cpu');
  const others = wanted.filter((metric) => metric !== cpu);
  const target = numberAt(cpu, 'resource', 'target', 'averageUtilization');
  const used = numberAt(current, 'resource', 'current', 'averageUtilization');
  const annotations = {
    ...stringMap(object, 'metadata', 'annotations'),
    ...(others.length > 0 && { [metricsAnnotation]: stringifyJson(others) }),
    ...(behavior !== undefined && { [behaviorAnnotation]: stringifyJson(behavior) }),
    ...(conditions !== undefined && { [conditionsAnnotation]: stringifyJson(conditions) }),
    ...(found.length > 0 && { [currentMetricsAnnotation]: stringifyJson(found) }),
  };
  return withAnnotations(
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
  const carried = (name: string): unknown => readJson(annotations[name]);
  const others = carried(metricsAnnotation);
  const behavior = carried(behaviorAnnotation);
  const conditions = carried(conditionsAnnotation);
  const current = carried(currentMetricsAnnotation);
  const cpu = {
    type: 'Resource',
    resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: target } },
  };
  const metrics = [...(target === undefined ? [] : [cpu]), ...(Array.isArray(others) ? others : [])];
  for (const name of ownAnnotations) delete annotations[name];
  return withAnnotations(
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

/** Someone else's text in one of our annotations is no reason to fail. */
function readJson(text: string | undefined): unknown {
  if (text === undefined) return undefined;
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

function withAnnotations(object: ApiObject, annotations: Readonly<Record<string, string>>): ApiObject {
  const given = at(object, 'metadata');
  const { annotations: _old, ...metadata } = isObject(given) ? given : {};
  return { ...object, metadata: Object.keys(annotations).length > 0 ? { ...metadata, annotations } : metadata };
}

/** The same object in another version. Kinds without a second shape only change their `apiVersion`. */
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
