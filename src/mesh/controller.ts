// The controller of Istio resources: one of them rules and decides about the mesh, the others say that they do not.
import { Istio } from '../api/istio.ts';
import { defineController } from '../controller/index.ts';
import type { ControllerDefinition, Plan, View } from '../controller/index.ts';
import { condition } from './conditions.ts';
import { failure } from './failures.ts';
import { isHeld, release } from './finalizer.ts';
import { meshGauges } from './gauges.ts';
import { planInstallation } from './install.ts';
import type { MeshModels } from './models.ts';
import { FIELD_MANAGER } from './names.ts';
import type { Restarts } from './restarts/index.ts';
import { notRuling } from './ruling.ts';
import type { MeshSettings } from './settings.ts';
import { meshStatus } from './status.ts';
import { tell } from './tell.ts';
import { planDeletion } from './uninstall.ts';

/** What every plan is made with. */
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
    failed: (istio, { message }) => ({ status: meshStatus({ istio, failures: [failure(doing(istio), message)] }) }),
  });
}

function planIstio(view: View, istio: Istio, parts: MeshParts): Plan {
  const deleting = istio.metadata.deletionTimestamp !== undefined;
  const idle = notRuling(istio, view.list(Istio));
  if (idle !== undefined) {
    // Whoever rules removes what is installed.
    if (deleting) return isHeld(istio) ? { steps: [release(istio)] } : {};
    return tell({ istio, failures: [idle] });
  }
  if (deleting) return isHeld(istio) ? planDeletion(view, istio, parts) : nothingInstalled(istio);
  return planInstallation(view, istio, parts);
}

/** Somebody else keeps it: there is nothing of ours to remove. */
function nothingInstalled(istio: Istio): Plan {
  return tell({ istio, failures: [], conditions: [condition('IstioInstallNotNeeded')] });
}

function doing({ metadata }: Istio): 'install' | 'uninstall' {
  return metadata.deletionTimestamp === undefined ? 'install' : 'uninstall';
}
