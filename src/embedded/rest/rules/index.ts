// Rules of built-in kinds, by collection.
import { collectionOf } from '../../registry.ts';
import type { Resource } from '../../resource.ts';
import { clusterRoleRules, webhookRules } from './admission.ts';
import { certificateRules } from './certificates.ts';
import { definitionCollection, definitionRules } from './definitions.ts';
import { namespaceRules } from './namespaces.ts';
import { podRules } from './pods.ts';
import { serviceRules } from './services.ts';
import type { KindRules } from './types.ts';

const needsVersion: KindRules = { needsVersion: true };

const createsOnUpdate: KindRules = { createsOnUpdate: true };

const rules: Readonly<Record<string, KindRules>> = {
  namespaces: namespaceRules,
  pods: podRules,
  services: serviceRules,
  endpoints: createsOnUpdate,
  events: createsOnUpdate,
  limitranges: createsOnUpdate,
  'endpointslices.discovery.k8s.io': createsOnUpdate,
  'roles.rbac.authorization.k8s.io': createsOnUpdate,
  'rolebindings.rbac.authorization.k8s.io': createsOnUpdate,
  'clusterroles.rbac.authorization.k8s.io': clusterRoleRules,
  'clusterrolebindings.rbac.authorization.k8s.io': createsOnUpdate,
  serviceaccounts: { returnsDeleted: true },
  resourcequotas: { returnsDeleted: true },
  persistentvolumeclaims: { returnsDeleted: true },
  persistentvolumes: { returnsDeleted: true },
  [definitionCollection]: definitionRules,
  'certificatesigningrequests.certificates.k8s.io': certificateRules,
  'jobs.batch': { orphansByDefault: true },
  'leases.coordination.k8s.io': { needsVersion: true, createsOnUpdate: true },
  'poddisruptionbudgets.policy': needsVersion,
  'mutatingwebhookconfigurations.admissionregistration.k8s.io': webhookRules,
  'validatingwebhookconfigurations.admissionregistration.k8s.io': webhookRules,
};
const none: KindRules = {};

export function rulesOf(resource: Resource): KindRules {
  if (resource.custom) return needsVersion;
  return rules[collectionOf(resource)] ?? none;
}
