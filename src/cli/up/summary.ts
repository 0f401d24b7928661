// The output of `offshoot up` once it runs: all addresses, and commands to paste.
import { styleText } from 'node:util';
import type { Playground } from '../../playground/index.ts';
import { isInCheckout, quoted, terminalOf } from './commands.ts';
import type { Written } from './kubeconfig.ts';
import type { Local } from './local.ts';

const DEPLOYMENTS = 'deployments.apps';
const ENVIRONMENTS = 'dynamicenvs.riskified.com';

export interface Started extends Pick<Written, 'kubeconfig'> {
  readonly merged: Written['merged'];
  /** Undefined: in memory. */
  readonly dataDir: string | undefined;
  readonly wantsShop: boolean;
}

/** Istio is rendered only for trying it out: see the guide of the mesh. */
const RUNNING = 'environments, targets, routing, mesh (Istio by the built-in renderer: none of it runs)';

export function summary({ cluster, plane, playground, dashboard }: Local, started: Started): string {
  const { kubeconfig, merged, dataDir } = started;
  const row = (name: string, value: string): string => `  ${styleText('gray', name.padEnd(16))}${value}`;
  const starting = '"offshoot run --controllers environments,targets,routing" starts them';
  const isOccupied = plane !== undefined && started.wantsShop && playground === undefined;
  return [
    styleText('bold', 'Offshoot is running.'),
    '',
    ...(dashboard ? [row('dashboard', dashboard.url)] : []),
    row('Kubernetes API', cluster.url),
    row('kubeconfig', kubeconfig),
    ...(merged ? [row('context', `${merged.context}, the current one of ${merged.file} until this stops`)] : []),
    row('controllers', plane === undefined ? `none (${starting})` : RUNNING),
    ...(playground ? [row('sample shop', `${playground.url}, namespace ${playground.sample.namespace}`)] : []),
    ...(isOccupied ? [row('sample shop', 'none, as the cluster holds something else')] : []),
    row('data', dataDir === undefined ? 'in memory, gone when this stops' : `${dataDir} (--fresh starts over)`),
    '',
    ...(playground ? shopLines(cluster, playground, started) : kubectlLines(started)),
    '',
    'Ctrl-C stops it.',
  ].join('\n');
}

/** Commands: a request to the shop, a new environment, and a request with its key. */
function shopLines({ store }: Local['cluster'], { url, sample }: Playground, started: Started): readonly string[] {
  const { namespace, workload, image } = sample;
  if (store.get(DEPLOYMENTS, `${namespace}/${workload}`) === undefined) {
    return [`The sample shop is not complete: Deployment ${namespace}/${workload} is gone. --fresh starts over.`];
  }
  const name = freeName((each) => store.get(ENVIRONMENTS, `${namespace}/${each}`) !== undefined);
  const subset = `--subset ${workload}=${image} --key ${name} --wait`;
  const where = isInCheckout() ? ', in this folder' : '';
  const { offshoot, flags } = terminalOf(started);
  return [
    styleText('bold', `Try it in another terminal${where}:`),
    '',
    `  curl ${url}`,
    `  ${offshoot} env create ${name} ${flags.offshoot} -n ${namespace} ${subset}`,
    `  curl -H 'x-env: ${name}' ${url}`,
  ];
}

/** The first of pr-7, pr-8 and so on that does not exist yet. */
function freeName(isTaken: (name: string) => boolean): string {
  let number = 7;
  while (isTaken(`pr-${number}`)) number++;
  return `pr-${number}`;
}

function kubectlLines({ kubeconfig, merged }: Started): readonly string[] {
  return [...(merged ? [] : [`  export KUBECONFIG=${quoted(kubeconfig)}`]), '  kubectl get namespaces'];
}
