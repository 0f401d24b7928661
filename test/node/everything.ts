// All that a cluster holds, by name.
import type { Kubectl } from './kubectl.ts';

/** Kinds that come and go by themselves. */
const FLEETING =
  /^(events|pods|replicasets|controllerrevisions|endpoints|endpointslices|leases|ipaddresses|podmetrics|nodemetrics)(\.|$)/;

/** `Kind namespace/name` of every object that somebody made to stay. */
export async function everything(kubectl: Kubectl): Promise<readonly string[]> {
  const kinds = (await kubectl(['api-resources', '--verbs=list', '-o', 'name', '--cached=false'])).trim().split('\n');
  const lasting = kinds.filter((kind) => !FLEETING.test(kind));
  const line = '{range .items[*]}{.kind} {.metadata.namespace}/{.metadata.name}{"\\n"}{end}';
  const lines = await kubectl(['get', lasting.join(','), '-A', '-o', `jsonpath=${line}`]);
  // What two groups serve, such as Events, is there twice.
  return [...new Set(lines.trim().split('\n'))].sort();
}
