// The names that the mesh part shares with the cluster: namespaces, the finalizer, labels and annotations. All of them
// are contract: other programs and people look for them.

/** The only namespace in which an Istio resource counts. */
export const MODULE_NAMESPACE = 'kyma-system';
/** Where Istio runs. */
export const ISTIO_NAMESPACE = 'istio-system';

/** On the ruling Istio resource from before the first installation until everything is removed. */
export const FINALIZER = 'istios.operator.kyma-project.io/istio-installation';
/** What was last installed; see last-applied.ts. */
export const LAST_APPLIED = 'operator.kyma-project.io/lastAppliedConfiguration';

/** On workloads of Istio: a hash of the manifest that they were last applied from. */
export const INSTALLED_FOR = 'offshoot.dev/installed-for';
/** On the namespace of Istio: unusual kinds that it has objects of. */
export const KINDS_MADE = 'offshoot.dev/installed-kinds';

/** On pod templates: when the workload was restarted, and for which desired state of its sidecars. */
export const RESTARTED_AT = 'istio-operator.kyma-project.io/restartedAt';
export const RESTARTED_FOR = 'istio-operator.kyma-project.io/restartedFor';
/** On workloads: never restart it, or only at some times of the week. */
export const EXCLUDED = 'restarter.istio-operator.kyma-project.io/exclude';
export const MAINTENANCE_WINDOW = 'restarter.istio-operator.kyma-project.io/maintenance-window';
/** On namespaces: restart pods as well that should have a sidecar and have none. */
export const RESTART_UNINJECTED = 'restarter.istio-operator.kyma-project.io/restart-uninjected';

/** On EnvoyFilters of ours: when their content last changed. */
export const UPDATED_AT = 'istios.operator.kyma-project.io/updatedAt';
export const DISCLAIMER = 'istios.operator.kyma-project.io/managed-by-disclaimer';
export const DISCLAIMER_TEXT =
  'DO NOT EDIT - This resource is managed by Kyma.\n' +
  'Any modifications are discarded and the resource is reverted to the original state.';

/** On everything that belongs to the module. */
export const MODULE_LABEL = 'kyma-project.io/module';
export const MODULE_NAME = 'istio';
/** Tells Warden to check the images of the namespace. */
export const WARDEN_LABEL = 'namespaces.warden.kyma-project.io/validate';

/** What Istio's own installer applies with: taking its name takes its fields over. */
export const FIELD_MANAGER = 'istio-operator';
/** The lease of the original operator, so that the two never work at once. */
export const LEASE = '76223278.kyma-project.io';
/** What the pods of the control plane run with; must exist before they do. */
export const PRIORITY_CLASS = 'istio-kyma-priority';

export const INGRESS_GATEWAY = 'istio-ingressgateway';
export const EGRESS_GATEWAY = 'istio-egressgateway';
