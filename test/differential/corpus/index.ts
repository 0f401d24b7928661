// All scenarios.
import type { Scenario } from '../scenario.ts';
import { access } from './access.ts';
import { certificates } from './certificates.ts';
import { conversions } from './conversions.ts';
import { customApply } from './custom-apply.ts';
import { customResources } from './custom-resources.ts';
import { customDefinitions } from './definitions.ts';
import { deletions } from './deletions.ts';
import { details } from './details.ts';
import { discovery } from './discovery.ts';
import { dryRuns } from './dry-runs.ts';
import { errors } from './errors.ts';
import { fieldValidation } from './field-validation.ts';
import { invalid } from './invalid.ts';
import { moreAccess } from './more-access.ts';
import { namespaces } from './namespaces.ts';
import { objects } from './objects.ts';
import { odds } from './odds.ts';
import { patches } from './patches.ts';
import { quotas } from './quotas.ts';
import { scaleOwners } from './scale-owners.ts';
import { selectors } from './selectors.ts';
import { serverSideApply } from './server-side-apply.ts';
import { servicesCorpus } from './services.ts';
import { subresources } from './subresources.ts';
import { tables } from './tables.ts';
import { watches } from './watches.ts';
import { webhooks } from './webhooks.ts';
import { workloads } from './workloads.ts';

/** By topic. */
export const corpus: Readonly<Record<string, readonly Scenario[]>> = {
  objects,
  errors,
  invalid,
  patches,
  'server-side apply': serverSideApply,
  selectors,
  watches,
  'dry runs': dryRuns,
  'field validation': fieldValidation,
  deletions,
  subresources,
  'field managers of replicas': scaleOwners,
  tables,
  discovery,
  'custom resource definitions': customDefinitions,
  'custom resources': customResources,
  'apply on custom resources': customApply,
  'conversion webhooks': conversions,
  'less common requests': odds,
  namespaces,
  services: servicesCorpus,
  access,
  'more access': moreAccess,
  quotas,
  webhooks,
  workloads,
  certificates,
  'refused fields': details,
};
