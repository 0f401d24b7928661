// The virtual node of a pod and the ports of its application, from the environment of its sidecar.
import { ENV, PORTS_ANNOTATION, problems } from '../errors.ts';
import type { Problem } from '../errors.ts';
import type { Mode, Pod } from '../model.ts';

/** The virtual node of a pod, by mesh. */
export type Sidecar =
  | { readonly kind: 'nodes'; readonly nodes: ReadonlyMap<string, string> }
  | { readonly kind: 'unreadable'; readonly problem: Problem };

const PARTS = 4;
const LONGEST_NAME = 255;
const MAX_PORT = 65_535;
const MAX_UINT32 = 4_294_967_295;
const NOWHERE: Sidecar = { kind: 'nodes', nodes: new Map() };

/** The virtual nodes of a pod. A value that cannot be parsed might be for any mesh. */
export function sidecarOf(pod: Pod, mode: Mode): Sidecar {
  if (pod.nodeNames.length > 0) return readNodes(pod, ENV.node, pod.nodeNames, mode);
  if (mode === 'compat' || pod.arns.length === 0) return NOWHERE;
  return readNodes(pod, ENV.arn, pod.arns, mode);
}

/** Of several values for one mesh the last wins. */
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
  /** No ports are declared, which is valid for a client. */
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
      const isNumber = /^\d+$/.test(text) && port <= MAX_UINT32;
      if (isNumber && mode === 'strict' && (port < 1 || port > MAX_PORT)) {
        const why = `: ${port} is no port, which is a number from 1 to ${MAX_PORT}`;
        return { kind: 'unreadable', problem: problems.podPortsParse(pod.ref, list, where, why) };
      }
      if (!isNumber) return { kind: 'unreadable', problem: problems.podPortsParse(pod.ref, list, where) };
      ports.push(port);
    }
  }
  return { kind: 'ports', ports };
}
