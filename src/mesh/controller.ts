// The controller of Istio resources: the active one decides about the mesh, the others report that they have no effect.
import { Istio } from '../api/istio.ts';
import { defineController } from '../controller/index.ts';
import type { ControllerDefinition, Plan, View } from '../controller/index.ts';
import { condition } from './status/conditions.ts';
import { failure } from './status/failures.ts';
import { hasFinalizer, removeFinalizer } from './custom-resource/finalizer.ts';
import { meshGauges } from './gauges.ts';
import { planInstallation } from './install.ts';
import type { MeshModels } from './models.ts';
import { FIELD_MANAGER } from './names.ts';
import type { Restarts } from './restarts/index.ts';
import { whyInactive } from './custom-resource/active-istio.ts';
import type { MeshSettings } from './settings.ts';
import { meshStatus } from './status/status.ts';
import { report } from './status/report.ts';
import { planDeletion } from './uninstall.ts';

/** The dependencies of every plan. */
export interface MeshParts {
  readonly models: MeshModels;
  readonly restarts: Restarts;
  readonly settings: MeshSettings;
}

/** The controller of Istio resources. */
export function istioController(parts: MeshParts): ControllerDefinition {
  const { failureBaseDelayMs, failureMaxDelayMs, retryLimit } = parts.settings;
  return defineController<Istio>({
    name: 'mesh',
    kind: Istio,
    fieldManager: FIELD_MANAGER,
    workers: 1,
    baseBackoffMs: failureBaseDelayMs,
    maxBackoffMs: failureMaxDelayMs,
    retryLimit,
    gauges: meshGauges,
    plan: (view, istio) => planIstio(view, istio, parts),
    failed: (istio, { message }) => ({
      status: meshStatus({ istio, failures: [failure(operationOf(istio), message)] }),
    }),
  });
}

function planIstio(view: View, istio: Istio, parts: MeshParts): Plan {
  const deleting = istio.metadata.deletionTimestamp !== undefined;
  const idle = whyInactive(istio, view.list(Istio));
  if (idle !== undefined) {
    // The active resource removes what is installed.
    if (deleting) return hasFinalizer(istio) ? { steps: [removeFinalizer(istio)] } : {};
    return report({ istio, failures: [idle] });
  }
  if (deleting) return hasFinalizer(istio) ? planDeletion(view, istio, parts) : nothingInstalled(istio);
  return planInstallation(view, istio, parts);
}

/** Only finalizers of others keep the resource: there is nothing of ours to remove. */
function nothingInstalled(istio: Istio): Plan {
  return report({ istio, failures: [], conditions: [condition('IstioInstallNotNeeded')] });
}

function operationOf({ metadata }: Istio): 'install' | 'uninstall' {
  return metadata.deletionTimestamp === undefined ? 'install' : 'uninstall';
}
