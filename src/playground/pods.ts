// The pods that answer for workloads: which are ready, what they run, and what they call.
import { environmentOfClone } from '../environments/index.ts';
import { defineKind, defineTable } from '../kube/index.ts';
import type { KubeObject } from '../kube/index.ts';
import type { Facts } from '../controller/index.ts';
import { Deployment, workloadOfPod } from '../traffic/services.ts';
import { CALLS } from './shop.ts';

type Labels = Readonly<Record<string, string>>;

interface Container {
  readonly name: string;
  readonly image?: string;
  readonly env?: readonly { readonly name: string; readonly value?: string }[];
}

interface Pod extends KubeObject {
  readonly spec?: { readonly containers?: readonly Container[] };
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}

/** A pod that can answer. */
export interface AnsweringPod {
  readonly name: string;
  readonly namespace: string;
  readonly labels: Labels;
  /** Its label `app`, or the name of its workload. */
  readonly service: string;
  readonly image: string;
  /** The URLs that it calls, in order. */
  readonly calls: readonly string[];
  /** The environment that it belongs to, as `NAMESPACE/NAME`. */
  readonly environment?: string;
}

/** Pods by owning workload, stripped to the fields that are read here: there can be many. */
export const Pods = defineTable(defineKind<Pod>('v1', 'Pod', 'pods'), {
  indexes: { workload: (pod) => [workloadOfPod(pod).key] },
  transform: ({ apiVersion, kind, metadata, spec, status }) => {
    const { managedFields: _managedFields, annotations: _annotations, ...kept } = metadata;
    const containers = (spec?.containers ?? []).map(slimContainer);
    const conditions = (status?.conditions ?? []).filter(({ type }) => type === 'Ready');
    return { apiVersion, kind, metadata: kept, spec: { containers }, status: { conditions } };
  },
});

function slimContainer({ name, image = '', env = [] }: Container): Container {
  return { name, image, env: env.filter((each) => each.name === CALLS) };
}

/**
 * The pods that can answer for a ready workload, `NAMESPACE/KIND/NAME`. Pods have a watch of their own, which may
 * report them as ready a moment later: until then, all pods count.
 */
export function answeringPods(facts: Facts, workload: string): readonly AnsweringPod[] {
  const pods = facts.index(Pods, 'workload', workload);
  const ready = pods.filter((pod) => workloadOfPod(pod).isReady);
  const environment = environmentOf(facts, workload);
  return (ready.length > 0 ? ready : pods).map((pod) => answeringPod(pod, workload, environment));
}

function environmentOf(facts: Facts, workload: string): string | undefined {
  const [namespace = '', kind, name = ''] = workload.split('/');
  if (kind !== Deployment.kind) return undefined;
  const found = facts.get(Deployment, { name, namespace });
  return found && environmentOfClone(found);
}

function answeringPod({ metadata, spec }: Pod, workload: string, environment: string | undefined): AnsweringPod {
  const { name, namespace = '', labels = {} } = metadata;
  const [container] = spec?.containers ?? [];
  const urls = container?.env?.find((each) => each.name === CALLS)?.value ?? '';
  return {
    name,
    namespace,
    labels,
    service: labels['app'] ?? workload.split('/').at(-1)!,
    image: container?.image ?? '',
    calls: urls.split(',').flatMap((each) => each.trim() || []),
    ...(environment !== undefined && { environment }),
  };
}
