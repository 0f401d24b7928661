// Every reason of a condition of an environment, with its meaning and advice.
import type { ReasonCatalogue } from '../controller/index.ts';
import { defaultSettings } from './settings.ts';

const HELD = {
  Paused: {
    meaning: '`spec.paused` is set, so nothing is written for the environment, and changes are waiting to be written.',
    advice: 'Unset `spec.paused`.',
  },
  Asleep: {
    meaning: 'The environment sleeps: it has no routes and no pods.',
    advice: 'Wake it with `offshoot env wake NAME`.',
  },
} as const;

export const REASONS = {
  /** `Reconciling` and `Stalled` have the same reason. */
  Ready: {
    Ready: { meaning: 'Every clone runs, and requests with the key reach it.', advice: '' },
    Processing: {
      meaning: 'Changes are in progress. The message says what the environment waits for.',
      advice: 'Wait. If it takes long, look at the conditions `WorkloadsReady` and `Routed`.',
    },
    Degraded: {
      meaning: 'Something is wrong, and waiting does not help. The condition `Stalled` lists all errors.',
      advice:
        'Run `offshoot env describe NAME`, which shows each error at the object that it is about. The environment recovers by itself once the cause is fixed.',
    },
    Deleting: {
      meaning: 'The environment is being deleted: routes first, then rules and clones.',
      advice: 'Wait. If it is also stalled, the message says which removal the API server refuses.',
    },
    ...HELD,
    InvalidName: {
      meaning: 'The namespace and name of the environment do not make a valid name for a subset of a DestinationRule.',
      advice: 'Create it under a name of letters, digits and hyphens, with no hyphen as the 40th character.',
    },
    NameCollision: {
      meaning: 'An older environment has the same computed names for its clones and rules.',
      advice: 'Rename one of the two environments that the message names.',
    },
    OutsideNamespace: {
      meaning:
        'A subset or consumer is in another namespace, and the controllers watch only selected namespaces (`--namespaces`).',
      advice: "Use Deployments in the environment's own namespace.",
    },
  },
  WorkloadsReady: {
    AllRunning: { meaning: 'Every clone runs.', advice: '' },
    RunningWithWarnings: {
      meaning:
        'Every clone runs, but a PodDisruptionBudget, HorizontalPodAutoscaler or NetworkPolicy of the base selects its pods, too.',
      advice: 'Check whether that is intended. If not, narrow the selector that the message names.',
    },
    NotRunning: {
      meaning: 'A clone does not run yet, and no error is known.',
      advice: 'Wait. If it takes long, check its Deployment with `kubectl describe`.',
    },
    NoPodReady: {
      meaning: 'A clone was running, and none of its pods is ready now.',
      advice: 'Look at the readiness probes and logs of its pods.',
    },
    Asleep: HELD.Asleep,
    Paused: HELD.Paused,
  },
  Routed: {
    Routed: { meaning: 'Every subset receives its requests.', advice: '' },
    RoutedWithWarnings: {
      meaning: 'Every subset has routes, but some VirtualServices or routes that lead to it were not changed.',
      advice: 'The message names each of them with the reason. Change those that the environment should use.',
    },
    NothingToRoute: { meaning: 'The environment has only consumers, which receive no requests.', advice: '' },
    WaitingForWorkloads: {
      meaning: `Routes wait until the clone is available, for at most ${defaultSettings.routeAfterMs / 1_000} seconds. After that they are added anyway, and requests with the key fail until it runs.`,
      advice: 'Look at the condition `WorkloadsReady`.',
    },
    WaitingForRules: {
      meaning: 'Routes wait until proxies know the DestinationRule and the pods of the clone (`--rule-settle`).',
      advice: 'Wait a second or two.',
    },
    WaitingForRoutes: { meaning: 'Routes are about to be written.', advice: 'Wait a moment.' },
    RoutesMissing: {
      meaning: 'No route leads to the workload that could be copied for the environment.',
      advice:
        'Run `offshoot doctor -n NAMESPACE`. The workload needs a VirtualService for its host with a route to the subset of the default version.',
    },
    RoutesIgnored: {
      meaning: 'The routes exist, but Istio ignores the VirtualService that they are in.',
      advice:
        'As the message says: merge the VirtualServices for the same host, or make a root VirtualService and its delegate consistent.',
    },
    Shadowed: {
      meaning: 'An earlier route, of another environment or your own, matches every request of the environment.',
      advice: 'Choose other headers, or change the order of your routes. `offshoot explain` shows which rule decides.',
    },
    NotAnswered: {
      meaning:
        'Requests are routed to the environment but fail: no pod of the clone is ready, or no DestinationRule declares its version.',
      advice: 'Look at the condition `WorkloadsReady`, and at the DestinationRules for the host.',
    },
    Asleep: HELD.Asleep,
    Paused: HELD.Paused,
  },
  Isolated: {
    Isolated: {
      meaning: 'Proved: every request without the key is routed as if the environment did not exist.',
      advice: '',
    },
    OtherRequestsMoved: {
      meaning:
        'A request without the key is routed differently because of the environment. Usually it reaches the pods of the environment by load balancing: through a route without a subset, or a Service without a VirtualService.',
      advice:
        'Run the `offshoot explain` command in the message to see the request, and `offshoot doctor -n NAMESPACE` for the rule to change.',
    },
    OwnRequestsDiffer: {
      meaning: 'A request with the key gets a response that differs in more than the version that answers.',
      advice:
        'Run the `offshoot explain` command in the message. Look for an earlier rule that redirects or rewrites it.',
    },
    CloneNotReached: {
      meaning: 'A request with the key still reaches the base, although a route for it exists.',
      advice: 'The message names the rule that comes first. Change its order or its match.',
    },
    Undecided: {
      meaning: 'It cannot be determined whether two rules match the same requests.',
      advice: 'Simplify one of the rules that the message names, such as a very large regular expression.',
    },
    RefusedByProxy: {
      meaning: 'Envoy rejects a route, and with it every change to the routes of that port.',
      advice: 'Correct the route that the message names.',
    },
    TooComplex: {
      meaning: 'The proof gave up after too many steps.',
      advice: 'Use fewer or simpler rules for the host. The environment still works.',
    },
  },
  Conflicted: {
    SameRequests: {
      meaning:
        'Another environment matches some of the same requests. The environment that was created first gets them.',
      advice: 'Give each environment a key or header value of its own. The message has an example request.',
    },
    Undecided: {
      meaning: 'It cannot be determined whether another environment matches some of the same requests.',
      advice: 'Use `exact` or `prefix` instead of a large `regex`.',
    },
  },
  Draining: {
    RoutesRemoved: {
      meaning: 'The routes were removed. Clones and rules follow once in-flight requests have finished.',
      advice: 'Wait two to three seconds.',
    },
  },
  Paused: {
    Paused: HELD.Paused,
  },
  LeftBehind: {
    NamespaceNotWatched: {
      meaning:
        'The environment has clones, rules or routes in namespaces that the controllers no longer watch (`--namespaces`), so they cannot remove them.',
      advice:
        'Let controllers watch these namespaces until the environment is deleted. Or delete it, remove what the message names by hand, and then remove its `metadata.finalizers`.',
    },
  },
  Expiring: {
    ExpiresSoon: {
      meaning: 'The time to live ends within the hour.',
      advice: 'Run `offshoot env extend NAME` if you still need it.',
    },
    NotDeleted: {
      meaning: 'The time to live has expired, but the API server rejects the deletion.',
      advice: 'The message shows the error: check permissions and policies.',
    },
  },
} as const satisfies ReasonCatalogue;

/** `WorkloadsReady` also has the reasons that Kubernetes gives for a Deployment or pod. These are the usual ones. */
export const KUBERNETES_REASONS = {
  CrashLoopBackOff: {
    meaning: 'A container of the clone keeps crashing.',
    advice: 'Look at its log: `kubectl logs -n NAMESPACE deployment/CLONE --previous`.',
  },
  ImagePullBackOff: {
    meaning: 'An image cannot be pulled.',
    advice: 'Check its name and tag in the environment, and the pull secrets of the base.',
  },
  Unschedulable: {
    meaning: 'No node has room for a pod of the clone.',
    advice: 'Free resources, or delete unused environments.',
  },
  FailedMount: {
    meaning: 'A volume of the clone cannot be mounted.',
    advice: 'Check the ConfigMap, Secret or claim that the message names.',
  },
  FailedAttachVolume: {
    meaning: 'A volume of the clone cannot be attached to its node, for example because pods on another node use it.',
    advice: 'The clone has the volumes of its base: override them, or use a volume that several nodes can mount.',
  },
  FailedCreatePodSandBox: {
    meaning: 'The node cannot start the pod of the clone.',
    advice: 'The message shows the error of the container runtime or the network plugin.',
  },
  Evicted: {
    meaning: 'The node stopped the pod of the clone to free resources.',
    advice: 'Request as much memory and storage as the clone needs.',
  },
  FailedCreate: {
    meaning: 'Pods of the clone cannot be created, because of a quota or a policy.',
    advice: 'The message shows the error of the API server.',
  },
  ProgressDeadlineExceeded: {
    meaning: 'The clone did not become ready in time.',
    advice: 'Look at its pods. A readiness probe that never succeeds is the usual cause.',
  },
} as const;

/** Conditions that have the reason of `Ready`. */
type LikeReady = 'Reconciling' | 'Stalled';
/** A condition that an environment may have. */
export type ConditionType = keyof typeof REASONS | LikeReady;
export type ReasonOf<T extends ConditionType> = T extends LikeReady
  ? keyof (typeof REASONS)['Ready']
  : T extends keyof typeof REASONS
    ? keyof (typeof REASONS)[T]
    : never;
