// The processes of pods, seen from this machine: tests kill them, and send requests from their network.
import { readdirSync, readFileSync } from 'node:fs';
import { defineKind } from '../../src/kube/index.ts';
import type { Client, KubeObject, Ref } from '../../src/kube/index.ts';

interface Pod extends KubeObject {
  readonly status?: {
    readonly containerStatuses?: readonly { readonly name: string; readonly containerID?: string }[];
  };
}
const Pod = defineKind<Pod>('v1', 'Pod', 'pods');

/** The pods of a namespace, including terminating ones. */
export async function podsIn(client: Client, namespace: string): Promise<readonly Pod[]> {
  return (await client.list(Pod, { namespace })).items;
}

/** The main process of a container. */
export async function processOf(client: Client, pod: Ref, container: string): Promise<number> {
  const { status } = await client.get(Pod, pod);
  const id = status?.containerStatuses?.find(({ name }) => name === container)?.containerID?.split('//')[1];
  if (id === undefined) throw new Error(`the container ${container} of the pod ${pod.name} does not run`);
  const all = readdirSync('/proc').filter((pid) => /^\d+$/.test(pid) && controlGroupsOf(pid).includes(id));
  if (all.length === 0) throw new Error(`the container ${id} has no process`);
  return Math.min(...all.map(Number));
}

/** The command prefix that runs a command in the network of a pod, so that its sidecar intercepts the requests. */
export async function inNetworkOf(client: Client, pod: Ref, container: string): Promise<string[]> {
  return ['nsenter', `--net=/proc/${await processOf(client, pod, container)}/ns/net`, '--'];
}

/** Control groups are named after containers. */
function controlGroupsOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cgroup`, 'utf8');
  } catch {
    return ''; // it has ended
  }
}
