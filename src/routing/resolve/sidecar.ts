// Which virtual node a pod belongs to, and the ports of its application: what its sidecar was given.
import { ENV, PORTS_ANNOTATION, problems } from '../errors.ts';
import type { Problem } from '../errors.ts';
import type { Mode, Pod } from '../model.ts';

/** The virtual node of a pod in each mesh that it names. */
export type Sidecar =
  | { readonly kind: 'nodes'; readonly nodes: ReadonlyMap<string, string> }
  | { readonly kind: 'unreadable'; readonly problem: Problem };

const PARTS = 4;
const LONGEST_NAME = 255;
const MOST_PORT = 65_535;
const MOST_UINT32 = 4_294_967_295;
const NOWHERE: Sidecar = { kind: 'nodes', nodes: new Map() };

/** Where a pod belongs. It is the same for every mesh: what cannot be read might be for any of them. */
export function sidecarOf(pod: Pod, mode: Mode): Sidecar {
  if (pod.nodeNames.length > 0) return readNodes(pod, ENV.node, pod.nodeNames, mode);
  if (mode === 'compat' || pod.arns.length === 0) return NOWHERE;
  return readNodes(pod, ENV.arn, pod.arns, mode);
}

/** Of several values for one mesh the last counts. */
function readNodes(pod: Pod, variable: string, values: readonly string[], mode: Mode): Sidecar {
  const nodes = new Map<string, string>();
  for (const value of values) {
    const parts = value.split('/');
    const [first = '', mesh = '', word = '', node = ''] = parts;
    const unreadable = (): Sidecar => ({
      kind: 'unreadable',
      problem: problems.podNodeFormat(pod.ref, variable, value),
    });
    if (parts.length !== PARTS) return unreadable();
    if (mode === 'strict') {
      if (first !== 'mesh' && !/^arn:.*:mesh$/.test(first)) return unreadable();
      // The Envoys of a gateway have the same variable.
      if (word === 'virtualGateway') continue;
      if (word !== 'virtualNode' || node === '') return unreadable();
      if (node.length > LONGEST_NAME) return { kind: 'unreadable', problem: problems.podNodeName(pod.ref, node) };
    }
    nodes.set(mesh, node);
  }
  return { kind: 'nodes', nodes };
}

export type AppPorts =
  | { readonly kind: 'ports'; readonly ports: readonly number[] }
  /** Nothing is said: fine for a pod that only calls others. */
  | { readonly kind: 'none'; readonly problem: Problem }
  | { readonly kind: 'unreadable'; readonly problem: Problem };

/** The ports that the application of a pod listens on. */
export function appPortsOf(pod: Pod, mode: Mode): AppPorts {
  const written = mode === 'strict' ? pod.portLists.filter((list) => list.trim() !== '') : pod.portLists;
  if (written.length > 0) return readPorts(pod, written, mode);
  const { portsAnnotation } = pod;
  if (mode === 'strict' && portsAnnotation !== undefined && portsAnnotation.trim() !== '') {
    return readPorts(pod, [portsAnnotation], mode, PORTS_ANNOTATION);
  }
  const [empty] = pod.portLists;
  const problem = empty === undefined ? problems.podPortsMissing(pod.ref) : problems.podPortsParse(pod.ref, empty);
  return { kind: mode === 'strict' ? 'none' : 'unreadable', problem };
}

function readPorts(pod: Pod, lists: readonly string[], mode: Mode, where?: string): AppPorts {
  const ports: number[] = [];
  for (const list of lists) {
    for (const item of list.split(',')) {
      const text = item.trim();
      const port = Number(text);
      const isNumber = /^\d+$/.test(text) && port <= MOST_UINT32;
      if (isNumber && mode === 'strict' && (port < 1 || port > MOST_PORT)) {
        const why = `: ${port} is no port, which is a number from 1 to ${MOST_PORT}`;
        return { kind: 'unreadable', problem: problems.podPortsParse(pod.ref, list, where, why) };
      }
      if (!isNumber) return { kind: 'unreadable', problem: problems.podPortsParse(pod.ref, list, where) };
      ports.push(port);
    }
  }
  return { kind: 'ports', ports };
}
