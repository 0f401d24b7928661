// Every reason that a condition of an environment may have, with what it means and what to do.
import type { ReasonCatalogue } from '../controller/index.ts';

const HELD = {
  Paused: {
    meaning: '`spec.paused` is set, so nothing is written for the environment, and something waits to be written.',
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
      meaning: 'Something is under way. The message says what the environment waits for.',
      advice: 'Wait. If it takes long, look at the conditions `WorkloadsReady` and `Routed`.',
    },
    Degraded: {
      meaning: 'Something is wrong, and waiting does not help. The condition `Stalled` lists all errors.',
      advice:
        'Run `offshoot env describe NAME`, which shows each error at the object that it is about. The environment recovers by itself when the cause is gone.',
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
        'A subset or consumer is in another namespace, and the controllers look after single namespaces (`--namespaces`).',
      advice: "Name Deployments of the environment's own namespace.",
    },
  },
  WorkloadsReady: {
    AllRunning: { meaning: 'Every clone runs.', advice: '' },
    RunningWithWarnings: {
      meaning:
        'Every clone runs, and a PodDisruptionBudget, HorizontalPodAutoscaler or NetworkPolicy of the base counts its pods, too.',
      advice: 'Decide whether that is meant. If not, narrow the selector that the message names.',
    },
    NotRunning: {
      meaning: 'A clone does not run yet, and nothing is known that keeps it from running.',
      advice: 'Wait. If it takes long, look at its Deployment with `kubectl describe`.',
    },
    Asleep: HELD.Asleep,
    Paused: HELD.Paused,
  },
  Routed: {
    Routed: { meaning: 'Every subset receives its requests.', advice: '' },
    RoutedWithWarnings: {
      meaning: 'Every subset has routes, and some VirtualServices or routes that lead to it were left alone.',
      advice: 'The message names each of them with the reason. Change those that should count.',
    },
    NothingToRoute: { meaning: 'The environment has only consumers, which receive no requests.', advice: '' },
    WaitingForWorkloads: {
      meaning: 'Routes wait until the clone is available.',
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
      meaning: 'The routes are there, and Istio ignores the VirtualService that they are in.',
      advice:
        'As the message says: join VirtualServices for the same host, or make a root VirtualService and its delegate agree.',
    },
    Shadowed: {
      meaning: 'An earlier route, of another environment or of yours, takes every request of the environment.',
      advice: 'Choose other headers, or change the order of your routes. `offshoot explain` shows which rule decides.',
    },
    NotAnswered: {
      meaning:
        'Requests are routed to the environment and get errors: no pod of the clone is ready, or no DestinationRule declares its version.',
      advice: 'Look at the condition `WorkloadsReady`, and at the DestinationRules for the host.',
    },
    Asleep: HELD.Asleep,
    Paused: HELD.Paused,
  },
  Isolated: {
    Isolated: {
      meaning: 'Proved: every request without the key is decided as if the environment were not there.',
      advice: '',
    },
    OtherRequestsMoved: {
      meaning:
        'A request without the key is decided differently. Usually it reaches the pods of the environment by load balancing: through a route without a subset, or a Service without a VirtualService.',
      advice:
        'Run the `offshoot explain` command in the message to see the request, and `offshoot doctor -n NAMESPACE` for the rule to change.',
    },
    OwnRequestsDiffer: {
      meaning: 'A request with the key gets something other than the same answer from its own version.',
      advice:
        'Run the `offshoot explain` command in the message. Look for an earlier rule that redirects or rewrites it.',
    },
    CloneNotReached: {
      meaning: 'A request with the key still reaches the base, though there is a route for it.',
      advice: 'The message names the rule that comes first. Change its order or its match.',
    },
    Undecided: {
      meaning: 'It cannot be decided whether two rules have requests in common.',
      advice: 'Simplify one of the rules that the message names, such as a very large regular expression.',
    },
    RefusedByProxy: {
      meaning: 'Envoy refuses a route, and with it every change of its port.',
      advice: 'Correct the route that the message names.',
    },
    TooComplex: {
      meaning: 'The proof was gave up after too many steps.',
      advice: 'Use fewer or simpler rules for the host. The environment works all the same.',
    },
  },
  Conflicted: {
    SameRequests: {
      meaning: 'Another environment asks for some of the same requests. The one that was created first gets them.',
      advice: 'Give each environment a key or header value of its own. The message has an example request.',
    },
    Undecided: {
      meaning: 'It cannot be decided whether another environment asks for some of the same requests.',
      advice: 'Use `exact` or `prefix` in place of a large `regex`.',
    },
  },
  Draining: {
    RoutesRemoved: {
      meaning: 'Routes are gone. Clones and rules follow when requests under way have ended.',
      advice: 'Wait two to three seconds.',
    },
  },
  Paused: {
    Paused: HELD.Paused,
  },
  LeftBehind: {
    NamespaceNotWatched: {
      meaning:
        'The environment has clones, rules or routes in namespaces that the controllers no longer look after (`--namespaces`), so they cannot remove them.',
      advice:
        'Let controllers look after these namespaces until the environment is gone. Or delete it, remove what the message names by hand, and then its `metadata.finalizers`.',
    },
  },
  Expiring: {
    ExpiresSoon: {
      meaning: 'The time to live ends within the hour.',
      advice: 'Run `offshoot env extend NAME` if you still need it.',
    },
    NotDeleted: {
      meaning: 'The time to live is over, and the API server refuses the deletion.',
      advice: 'The message has its words: look for a missing right or a policy.',
    },
  },
} as const satisfies ReasonCatalogue;

/** `WorkloadsReady` also has the reasons that Kubernetes gives for a Deployment or pod. These are the usual ones. */
export const KUBERNETES_REASONS = {
  CrashLoopBackOff: {
    meaning: 'A container of the clone ends again and again.',
    advice: 'Look at its log: `kubectl logs -n NAMESPACE deployment/CLONE --previous`.',
  },
  ImagePullBackOff: {
    meaning: 'An image cannot be pulled.',
    advice: 'Check its name and tag in the environment, and the pull secrets of the base.',
  },
  Unschedulable: {
    meaning: 'No node has room for a pod of the clone.',
    advice: 'Free resources, or delete environments that nobody needs.',
  },
  FailedMount: {
    meaning: 'A volume of the clone cannot be mounted.',
    advice: 'Check the ConfigMap, Secret or claim that the message names.',
  },
  FailedCreate: {
    meaning: 'Pods of the clone cannot be created, because of a quota or a policy.',
    advice: 'The message has the words of the API server.',
  },
  ProgressDeadlineExceeded: {
    meaning: 'The clone has not become ready in time.',
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
