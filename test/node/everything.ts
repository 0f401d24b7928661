// Lists the objects of a cluster by name.
import type { Kubectl } from './kubectl.ts';

/** Kinds whose objects are created and deleted by controllers all the time. */
const EPHEMERAL =
  /^(events|pods|replicasets|controllerrevisions|endpoints|endpointslices|leases|ipaddresses|podmetrics|nodemetrics)(\.|$)/;

/** `Kind namespace/name` of every object that is not ephemeral. */
export async function everything(kubectl: Kubectl): Promise<readonly string[]> {
  const kinds = (await kubectl(['api-resources', '--verbs=list', '-o', 'name', '--cached=false'])).trim().split('\n');
  const lasting = kinds.filter((kind) => !EPHEMERAL.test(kind));
  const line = '{range .items[*]}{.kind} {.metadata.namespace}/{.metadata.name}{"\\n"}{end}';
  const lines = await kubectl(['get', lasting.join(','), '-A', '-o', `jsonpath=${line}`]);
  // Kinds that two API groups serve, such as Events, are listed twice.
  return [...new Set(lines.trim().split('\n'))].sort();
}
