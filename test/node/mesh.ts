// Istio on the real node, installed with its own charts by istioctl. Its sidecars are stock Envoys.
import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { istioNode, istioVersion } from '../programs/istio.ts';
import { programsOf } from '../programs/programs.ts';

/** What differs from the charts: our images, and nothing that needs Istio's own build of Envoy. */
const settings = {
  profile: 'minimal',
  hub: 'localhost',
  tag: istioVersion,
  'values.global.imagePullPolicy': 'IfNotPresent',
  'values.pilot.env.PILOT_ENABLE_METADATA_EXCHANGE': 'false',
  'values.pilot.env.PILOT_ENABLE_ALPN_FILTER': 'false',
  'values.pilot.resources.requests.cpu': '10m',
  'values.pilot.resources.requests.memory': '100Mi',
  'values.global.proxy.resources.requests.cpu': '10m',
  'values.global.proxy.resources.requests.memory': '40Mi',
  'values.global.proxy_init.resources.requests.cpu': '10m',
  'values.telemetry.enabled': 'false',
  'meshConfig.enableTracing': 'false',
  'meshConfig.enablePrometheusMerge': 'false',
};

/** Resolves when istiod is ready to inject. */
export async function installMesh(kubeconfigPath: string): Promise<void> {
  const set = Object.entries(settings).flatMap(([name, value]) => ['--set', `${name}=${value}`]);
  const args = [
    'install',
    '--kubeconfig',
    kubeconfigPath,
    '--skip-confirmation',
    '--readiness-timeout',
    '120s',
    ...set,
  ];
  await promisify(execFile)(path.join(programsOf(istioNode), 'istioctl'), args);
}
