// The defaults of workloads and autoscalers.
import type { ApiObject } from '../../resource.ts';
import { at, isObject, objects, text } from '../read.ts';
import { fill, inField, inItems, intoField } from './fill.ts';
import { inTemplate } from './pods.ts';

function inSpec(object: ApiObject, change: (spec: ApiObject) => ApiObject): ApiObject {
  return intoField(object, 'spec', change);
}

export function deployment(object: ApiObject): ApiObject {
  return inSpec(object, (spec) => {
    const filled = fill(inTemplate(spec), { replicas: 1, revisionHistoryLimit: 10, progressDeadlineSeconds: 600 });
    return intoField(filled, 'strategy', (strategy) => {
      const typed = fill(strategy, { type: 'RollingUpdate' });
      if (typed['type'] !== 'RollingUpdate') return typed;
      return intoField(typed, 'rollingUpdate', (rolling) => fill(rolling, { maxUnavailable: '25%', maxSurge: '25%' }));
    });
  });
}

export function replicaSet(object: ApiObject): ApiObject {
  return inSpec(object, (spec) => fill(inTemplate(spec), { replicas: 1 }));
}

export function replicationController(object: ApiObject): ApiObject {
  const filled = replicaSet(object);
  const labels = at(filled, 'spec', 'template', 'metadata', 'labels');
  if (!isObject(labels)) return filled;
  const selected = inSpec(filled, (spec) => fill(spec, { selector: labels }));
  return intoField(selected, 'metadata', (metadata) => fill(metadata, { labels }));
}

export function daemonSet(object: ApiObject): ApiObject {
  return inSpec(object, (spec) =>
    intoField(fill(inTemplate(spec), { revisionHistoryLimit: 10 }), 'updateStrategy', (strategy) => {
      const typed = fill(strategy, { type: 'RollingUpdate' });
      if (typed['type'] !== 'RollingUpdate') return typed;
      return intoField(typed, 'rollingUpdate', (rolling) => fill(rolling, { maxUnavailable: 1, maxSurge: 0 }));
    }),
  );
}

function claimTemplate(claim: ApiObject): ApiObject {
  const typed = fill(claim, { apiVersion: 'v1', kind: 'PersistentVolumeClaim', status: { phase: 'Pending' } });
  return intoField(typed, 'spec', (spec) => fill(spec, { volumeMode: 'Filesystem' }));
}

export function statefulSet(object: ApiObject): ApiObject {
  return inSpec(object, (spec) => {
    let result = fill(inTemplate(spec), {
      podManagementPolicy: 'OrderedReady',
      replicas: 1,
      revisionHistoryLimit: 10,
      serviceName: '',
    });
    const typeGiven = text(result, 'updateStrategy', 'type') !== '';
    result = intoField(result, 'updateStrategy', (strategy) => {
      const typed = typeGiven ? strategy : fill({ ...strategy, type: 'RollingUpdate' }, { rollingUpdate: {} });
      if (typed['type'] !== 'RollingUpdate') return typed;
      return inField(typed, 'rollingUpdate', (rolling) => fill(rolling, { partition: 0 }));
    });
    result = intoField(result, 'persistentVolumeClaimRetentionPolicy', (policy) =>
      fill(policy, { whenDeleted: 'Retain', whenScaled: 'Retain' }),
    );
    return inItems(result, 'volumeClaimTemplates', claimTemplate);
  });
}

function jobSpec(spec: ApiObject): ApiObject {
  const completions = spec['completions'] === undefined && spec['parallelism'] === undefined ? { completions: 1 } : {};
  const filled = fill(inTemplate(spec), {
    ...completions,
    parallelism: 1,
    backoffLimit: spec['backoffLimitPerIndex'] === undefined ? 6 : 2_147_483_647,
    completionMode: 'NonIndexed',
    suspend: false,
    podReplacementPolicy: spec['podFailurePolicy'] === undefined ? 'TerminatingOrFailed' : 'Failed',
    manualSelector: false,
  });
  return inField(filled, 'podFailurePolicy', (policy) =>
    inItems(policy, 'rules', (rule) =>
      inItems(rule, 'onPodConditions', (pattern) => fill(pattern, { status: 'True' })),
    ),
  );
}

export function job(object: ApiObject): ApiObject {
  const filled = inSpec(object, jobSpec);
  const labels = at(filled, 'spec', 'template', 'metadata', 'labels');
  return isObject(labels) ? intoField(filled, 'metadata', (metadata) => fill(metadata, { labels })) : filled;
}

/** Generates the selector of a job, and the labels of its pods, unless `manualSelector` is set. */
export function jobSelector(object: ApiObject): ApiObject {
  if (at(object, 'spec', 'manualSelector') === true) return object;
  const uid = text(object, 'metadata', 'uid');
  const name = text(object, 'metadata', 'name');
  const generatedLabels = {
    'controller-uid': uid,
    'job-name': name,
    'batch.kubernetes.io/controller-uid': uid,
    'batch.kubernetes.io/job-name': name,
  };
  return inSpec(object, (spec) => {
    const labelled = intoField(spec, 'template', (template) =>
      intoField(template, 'metadata', (metadata) =>
        intoField(metadata, 'labels', (labels) => fill(labels, generatedLabels)),
      ),
    );
    return intoField(labelled, 'selector', (selector) =>
      intoField(selector, 'matchLabels', (labels) => fill(labels, { 'batch.kubernetes.io/controller-uid': uid })),
    );
  });
}

export function cronJob(object: ApiObject): ApiObject {
  return inSpec(object, (spec) => {
    const filled = fill(spec, {
      concurrencyPolicy: 'Allow',
      suspend: false,
      successfulJobsHistoryLimit: 3,
      failedJobsHistoryLimit: 1,
    });
    // The defaults of a job are set when the job is created; its template gets only those of the pod.
    return inField(filled, 'jobTemplate', (template) =>
      intoField(
        intoField(template, 'metadata', (metadata) => metadata),
        'spec',
        (job) => inTemplate(job),
      ),
    );
  });
}

const defaultMetric = {
  type: 'Resource',
  resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 80 } },
};
const scaleUp = {
  stabilizationWindowSeconds: 0,
  selectPolicy: 'Max',
  policies: [
    { type: 'Pods', value: 4, periodSeconds: 15 },
    { type: 'Percent', value: 100, periodSeconds: 15 },
  ],
};
const scaleDown = { selectPolicy: 'Max', policies: [{ type: 'Percent', value: 100, periodSeconds: 15 }] };

export function autoscaler(object: ApiObject): ApiObject {
  const isV1 = text(object, 'apiVersion') === 'autoscaling/v1';
  const metered = isV1 ? object : intoField(object, 'status', (status) => fill(status, { currentMetrics: null }));
  return inSpec(metered, (spec) => {
    const filled = fill(spec, { minReplicas: 1 });
    if (isV1) return filled;
    const measured = objects(filled, 'metrics').length > 0 ? filled : { ...filled, metrics: [defaultMetric] };
    return inField(measured, 'behavior', (behavior) => {
      const up = intoField(behavior, 'scaleUp', (rules) => fill(rules, scaleUp));
      return intoField(up, 'scaleDown', (rules) => fill(rules, scaleDown));
    });
  });
}
