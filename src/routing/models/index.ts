// All derived maps of routing, for one set of settings.
import type { KubeObject } from '../../kube/index.ts';
import { appMeshCrd, crdParts } from '../backends/appmesh-crd.ts';
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
  readonly reports: ReturnType<typeof ruleReports>;
}

export function routingModels(options: TranslateOptions): Models {
  const plans = planModels(appMeshCrd, options);
  return { plans, objects: partModels(plans, crdParts, options.mode), reports: ruleReports(plans) };
}
