// The names that the mesh controllers use in the cluster: namespaces, the finalizer, labels and annotations. All of
// them are part of the contract: people and other programs rely on them.

/** The only namespace in which an Istio resource has an effect. */
export const MODULE_NAMESPACE = 'kyma-system';
/** The namespace of Istio. */
export const ISTIO_NAMESPACE = 'istio-system';

/** The finalizer of the active Istio resource, from before the first installation until everything is removed. */
export const FINALIZER = 'istios.operator.kyma-project.io/istio-installation';
/** The configuration that was last installed; see custom-resource/last-applied.ts. */
export const LAST_APPLIED = 'operator.kyma-project.io/lastAppliedConfiguration';

/** On workloads of Istio: a hash of the manifest that was last applied. */
export const INSTALLED_FOR = 'offshoot.dev/installed-for';
/** On the namespace of Istio: unusual kinds of which the installation has objects. */
export const KINDS_MADE = 'offshoot.dev/installed-kinds';

/** On pod templates: when the workload was restarted, and for which desired state of its sidecars. */
export const RESTARTED_AT = 'istio-operator.kyma-project.io/restartedAt';
export const RESTARTED_FOR = 'istio-operator.kyma-project.io/restartedFor';
/** On workloads: never restart them, or only in a maintenance window. */
export const EXCLUDED = 'restarter.istio-operator.kyma-project.io/exclude';
export const MAINTENANCE_WINDOW = 'restarter.istio-operator.kyma-project.io/maintenance-window';
/** On namespaces: also restart pods that should have a sidecar but have none. */
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
/** Makes Warden check the images in the namespace. */
export const WARDEN_LABEL = 'namespaces.warden.kyma-project.io/validate';

/** The field manager of Istio's own installer: using its name takes over its fields. */
export const FIELD_MANAGER = 'istio-operator';
/** The lease of the Kyma operator, so that the two never run at the same time. */
export const LEASE = '76223278.kyma-project.io';
/** The PriorityClass of the control plane, which must exist before its pods. */
export const PRIORITY_CLASS = 'istio-kyma-priority';

export const INGRESS_GATEWAY = 'istio-ingressgateway';
export const EGRESS_GATEWAY = 'istio-egressgateway';
