// Validates objects of all kinds.
import { definitionProblems, storedVersionProblems } from '../../crd/validate.ts';
import type { ApiObject, Resource } from '../../resource.ts';
import { checkRules, hasRules } from '../../schema/cel/rules.ts';
import { type FieldError, type FieldErrorType, invalid } from '../../schema/field-error.ts';
import { validateValue } from '../../schema/validate.ts';
import { limitRangeErrors } from './limits.ts';
import { metadataChangeErrors, metadataErrors } from './meta.ts';
import { bindingErrors, roleErrors } from './access.ts';
import { certificateRequestErrors } from './certificates.ts';
import { configMapErrors, secretErrors } from './config.ts';
import { endpointsErrors, endpointSliceErrors, ingressErrors, networkPolicyErrors, serviceErrors } from './network.ts';
import {
  autoscalerErrors,
  claimErrors,
  disruptionBudgetErrors,
  eventErrors,
  leaseErrors,
  priorityClassErrors,
  quotaErrors,
  storageClassErrors,
} from './policy.ts';
import { podErrors } from './pods.ts';
import {
  cronJobErrors,
  daemonSetErrors,
  deploymentErrors,
  jobErrors,
  replicaSetErrors,
  statefulSetErrors,
} from './workloads.ts';
import { webhookErrors } from './webhooks.ts';

type Check = (object: ApiObject, old: ApiObject | undefined) => FieldError[];

const table: Readonly<Record<string, Check>> = {
  '/ConfigMap': configMapErrors,
  '/Endpoints': endpointsErrors,
  '/Event': eventErrors,
  '/PersistentVolumeClaim': claimErrors,
  '/Pod': podErrors,
  '/LimitRange': limitRangeErrors,
  '/ResourceQuota': quotaErrors,
  '/Secret': secretErrors,
  '/Service': serviceErrors,
  'admissionregistration.k8s.io/MutatingWebhookConfiguration': webhookErrors,
  'admissionregistration.k8s.io/ValidatingWebhookConfiguration': webhookErrors,
  'apiextensions.k8s.io/CustomResourceDefinition': (object, old) => [
    ...definitionProblems(object, old),
    ...storedVersionProblems(object),
  ],
  'apps/DaemonSet': daemonSetErrors,
  'apps/Deployment': deploymentErrors,
  'apps/ReplicaSet': replicaSetErrors,
  'apps/StatefulSet': statefulSetErrors,
  'autoscaling/HorizontalPodAutoscaler': autoscalerErrors,
  'batch/CronJob': cronJobErrors,
  'batch/Job': jobErrors,
  'certificates.k8s.io/CertificateSigningRequest': certificateRequestErrors,
  'coordination.k8s.io/Lease': leaseErrors,
  'discovery.k8s.io/EndpointSlice': endpointSliceErrors,
  'events.k8s.io/Event': eventErrors,
  'networking.k8s.io/Ingress': ingressErrors,
  'networking.k8s.io/NetworkPolicy': networkPolicyErrors,
  'policy/PodDisruptionBudget': disruptionBudgetErrors,
  'rbac.authorization.k8s.io/ClusterRole': roleErrors,
  'rbac.authorization.k8s.io/ClusterRoleBinding': bindingErrors,
  'rbac.authorization.k8s.io/Role': roleErrors,
  'rbac.authorization.k8s.io/RoleBinding': bindingErrors,
  'scheduling.k8s.io/PriorityClass': priorityClassErrors,
  'storage.k8s.io/StorageClass': storageClassErrors,
};

/** All errors of an object after defaulting; with the old object, also changes that are not allowed. */
export function validate(resource: Resource, object: ApiObject, old?: ApiObject): FieldError[] {
  const errors = metadataErrors(resource, object);
  if (old !== undefined) errors.push(...metadataChangeErrors(object, old));
  if (!resource.custom) {
    errors.push(...(table[`${resource.group}/${resource.kind}`]?.(object, old) ?? []));
    return errors;
  }
  errors.push(...validateValue(resource.schema, object, old));
  if (!hasRules(resource.schema)) return errors;
  if (errors.some((error) => blocking.has(error.type))) return [...errors, invalid('<nil>', null, skippedRules)];
  return [...errors, ...checkRules(resource.schema, object, old)];
}

/** Errors after which CEL rules are not evaluated: the rules rely on the types of the schema. */
const blocking = new Set<FieldErrorType>(['NotSupported', 'Required', 'TooLong', 'TooMany', 'TypeInvalid']);
const skippedRules =
  'some validation rules were not checked because the object was invalid; correct the existing errors to complete validation';
