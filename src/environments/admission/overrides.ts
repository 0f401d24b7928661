// Validates the overrides of an environment by the rules of the API server and the kubelet, before anything is created.
// Used for flags and manifests. Pure.
import type { ContainerOverrides, EnvVar } from '../../api/dynamicenv.ts';
import { labelProblem } from '../../kube/selector.ts';
import type { FieldPath, PlacedItem } from './placed-items.ts';

const HOST = '[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?';
const REGISTRY = String.raw`(?:${HOST}(?:\.${HOST})*|\[[a-fA-F0-9:]+\])(?::[0-9]+)?`;
const PART = '[a-z0-9]+(?:(?:[.]|_|__|-+)[a-z0-9]+)*';
const DIGEST = '[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}';
/** An image reference, as registries and container runtimes parse it. */
const IMAGE = new RegExp(String.raw`^(?:${REGISTRY}/)?${PART}(?:/${PART})*(?::\w[\w.-]{0,127})?(?:@${DIGEST})?$`);

/** Why a text is not a valid image. */
export function imageProblem(image: string): string | undefined {
  if (IMAGE.test(image)) return undefined;
  if (/\s/.test(image)) return 'an image contains no space';
  const [path] = image.split(/[:@](?!.*\/)/);
  if (/[A-Z]/.test(path ?? '') && IMAGE.test(image.toLowerCase())) return 'the name of an image is in lowercase';
  return 'write it as [registry/]name[:tag][@digest], such as registry.example/cart:2';
}

/** Why a number of replicas is invalid. Another rule with its own message refuses 0. */
function replicasProblem(replicas: number): string | undefined {
  return Number.isInteger(replicas) && replicas >= 0 && replicas <= 2_147_483_647
    ? undefined
    : 'it must be a whole number of at least 1';
}

/** Why a text is not a valid name of an environment variable. */
export function variableNameProblem(name: string): string | undefined {
  return /^[ -<>-~]+$/.test(name) ? undefined : 'a name has at least one character, all printable ASCII other than "="';
}

/** An invalid field. */
interface OverrideProblem {
  readonly at: FieldPath;
  readonly value: unknown;
  readonly detail: string;
}

/** The first field of a subset or consumer because of which its clone could not be created or started. */
export function overrideProblem({ item, at }: PlacedItem): OverrideProblem | undefined {
  const { replicas, podLabels = {} } = item;
  const ofReplicas = replicas === undefined ? undefined : replicasProblem(replicas);
  if (ofReplicas !== undefined) return { at: [...at, 'replicas'], value: replicas, detail: ofReplicas };
  for (const list of ['containers', 'initContainers'] as const) {
    for (const [index, container] of (item[list] ?? []).entries()) {
      const problem = containerProblem(container, [...at, list, index]);
      if (problem !== undefined) return problem;
    }
  }
  for (const [name, value] of Object.entries(podLabels)) {
    const detail = labelProblem(name, value);
    if (detail !== undefined) return { at: [...at, 'podLabels', name], value, detail };
  }
  return undefined;
}

function containerProblem({ image, env = [] }: ContainerOverrides, at: FieldPath): OverrideProblem | undefined {
  // An empty image keeps that of the base.
  const ofImage = image === undefined || image === '' ? undefined : imageProblem(image);
  if (ofImage !== undefined) return { at: [...at, 'image'], value: image, detail: ofImage };
  for (const [index, variable] of env.entries()) {
    const problem = variableProblem(variable, [...at, 'env', index]);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function variableProblem({ name, value, valueFrom }: EnvVar, at: FieldPath): OverrideProblem | undefined {
  const ofName = variableNameProblem(name);
  if (ofName !== undefined) return { at: [...at, 'name'], value: name, detail: ofName };
  if (valueFrom === undefined || valueFrom === null) return undefined;
  const path = [...at, 'valueFrom'];
  if (value !== undefined && value !== '') {
    return { at: path, value: valueFrom, detail: 'a variable has either value or valueFrom' };
  }
  const sources = Object.values(valueFrom).filter((source) => source !== undefined && source !== null);
  return sources.length === 1 ? undefined : { at: path, value: valueFrom, detail: 'it must name exactly one source' };
}
