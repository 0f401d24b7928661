// Istio on the real node, installed with its own charts by istioctl. Its sidecars are stock Envoys.
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { istioNode, istioVersion } from '../programs/istio.ts';
import { programsOf } from '../programs/programs.ts';

/** The registry in the names of the node's images. */
export const hub = 'localhost';

/** Turns off the filters that only Istio's own build of Envoy has. */
const forStockEnvoy = {
  'values.pilot.env.PILOT_ENABLE_METADATA_EXCHANGE': 'false',
  'values.pilot.env.PILOT_ENABLE_ALPN_FILTER': 'false',
};

/** Makes sidecars ready sooner, and shortens their drain from five seconds to one. */
const quick = {
  'values.global.proxy.readinessInitialDelaySeconds': '1',
  'values.global.proxy.readinessPeriodSeconds': '1',
  'meshConfig.defaultConfig.terminationDrainDuration': '1s',
};

/** Values for the charts: our images, few resources, no telemetry. */
const settings = {
  profile: 'minimal',
  hub,
  tag: istioVersion,
  'values.global.imagePullPolicy': 'IfNotPresent',
  ...forStockEnvoy,
  ...quick,
  'values.pilot.resources.requests.cpu': '10m',
  'values.pilot.resources.requests.memory': '100Mi',
  'values.global.proxy.resources.requests.cpu': '10m',
  'values.global.proxy.resources.requests.memory': '40Mi',
  'values.global.proxy_init.resources.requests.cpu': '10m',
  'values.telemetry.enabled': 'false',
  'meshConfig.enableTracing': 'false',
  'meshConfig.enablePrometheusMerge': 'false',
};

const flags = (set: Readonly<Record<string, string>>): string[] =>
  Object.entries(set).flatMap(([name, value]) => ['--set', `${name}=${value}`]);

/** Installs Istio; resolves when istiod is ready to inject. */
export async function installMesh(kubeconfigPath: string): Promise<void> {
  const args = [
    'install',
    '--kubeconfig',
    kubeconfigPath,
    '--skip-confirmation',
    '--readiness-timeout',
    '120s',
    ...flags(settings),
  ];
  await promisify(execFile)(istioctl(), args);
}

/**
 * Writes a wrapper of istioctl that reports this version: together with images under another tag, it simulates an
 * upgrade. It renders for stock Envoys with fast readiness probes.
 */
export function writeIstioctl(target: string, version: string): void {
  const set = flags({ ...forStockEnvoy, ...quick }).join(' ');
  const script = `#!/bin/sh
[ "$1" = version ] && { echo 'client version: ${version}'; exit; }
exec '${istioctl()}' "$@" ${set}
`;
  writeFileSync(target, script, { mode: 0o755 });
}

function istioctl(): string {
  return path.join(programsOf(istioNode), 'istioctl');
}
