// All derived maps of routing, for one set of settings.
import type { KubeObject } from '../../kube/index.ts';
import { apiParts } from '../backends/appmesh-api.ts';
import type { Body } from '../backends/appmesh-api.ts';
import { appMeshCrd, crdParts } from '../backends/appmesh-crd.ts';
import type { Backend } from '../backends/backend.ts';
import type { TranslateOptions } from '../translate.ts';
import { partModels } from './parts.ts';
import type { PartModels } from './parts.ts';
import { planModels } from './plans.ts';
import type { PlanModels } from './plans.ts';
import { ruleReports } from './reports.ts';

export interface Models {
  readonly plans: PlanModels;
  /** As objects of the App Mesh controller. */
  readonly objects: PartModels<KubeObject>;
  /** As request bodies for AWS. */
  readonly bodies: PartModels<Body>;
  readonly reports: ReturnType<typeof ruleReports>;
}

/** All models, for the capabilities of a back end. */
export function routingModels(options: TranslateOptions, backend: Backend<unknown> = appMeshCrd): Models {
  const plans = planModels(backend, options);
  const { mode } = options;
  return {
    plans,
    objects: partModels(plans, crdParts, mode),
    bodies: partModels(plans, apiParts, mode),
    reports: ruleReports(plans),
  };
}
