// A small renderer that needs no istioctl: the workloads of the control plane, their services and scaling, and Istio's
// kinds, so that the whole lifecycle of a mesh can be tried on a cluster without real pods. It injects no sidecars.
import type { AnyObject } from '../../../../kube/index.ts';
import type { IstioOperator, Overlay } from '../../operator/operator.ts';
import { overlay } from '../../operator/operator.ts';
import { RenderError } from '../renderer.ts';
import type { Renderer } from '../renderer.ts';
import { cni } from './cni.ts';
import { controlPlane } from './control-plane.ts';
import { definitions } from './definitions.ts';
import { gateway } from './gateway.ts';

/** The built-in renderer. */
export const builtinRenderer: Renderer = {
  name: 'built-in',
  isSimulated: true,
  // oxlint-disable-next-line typescript/require-await -- the interface is asynchronous: istioctl is a program
  async render(operator) {
    try {
      return renderBuiltin(operator);
    } catch (error) {
      throw new RenderError((error as Error).message, { cause: error });
    }
  },
};

/** The objects of an operator. */
export function renderBuiltin(operator: IstioOperator): readonly AnyObject[] {
  const { base, pilot, cni: node, ingressGateways, egressGateways } = operator.spec.components;
  return [
    ...(base.enabled ? definitions() : []),
    ...(pilot.enabled ? edited(controlPlane(operator), pilot.k8s?.overlays) : []),
    ...(node.enabled ? edited(cni(operator), node.k8s?.overlays) : []),
    ...ingressGateways.flatMap((each) =>
      each.enabled ? edited(gateway(operator, each, 'ingress'), each.k8s?.overlays) : [],
    ),
    ...egressGateways.flatMap((each) =>
      each.enabled ? edited(gateway(operator, each, 'egress'), each.k8s?.overlays) : [],
    ),
  ];
}

/** Objects with the overlays of the operator. */
function edited(objects: readonly AnyObject[], overlays: readonly Overlay[] = []): readonly AnyObject[] {
  return objects.map((object) => {
    const patches = overlays
      .filter(({ kind, name }) => kind === object.kind && name === object.metadata.name)
      .flatMap((each) => each.patches);
    return patches.reduce((edit, { path, value }) => overlay(edit, treeAt(fieldsOf(path), value)), object);
  });
}

/** `a.b\.c` → a, b.c */
function fieldsOf(path: string): string[] {
  return (path.match(/(?:\\.|[^.\\])+/g) ?? []).map((field) => field.replaceAll(/\\(.)/g, '$1'));
}

function treeAt(fields: readonly string[], value: unknown): unknown {
  return fields.reduceRight<unknown>((inner, field) => ({ [field]: inner }), value);
}
