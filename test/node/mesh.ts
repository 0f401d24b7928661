// Istio on the real node, installed with its own charts by istioctl. Its sidecars are stock Envoys.
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { istioNode, istioVersion } from '../programs/istio.ts';
import { programsOf } from '../programs/programs.ts';

/** Where the images of the node are. */
export const hub = 'localhost';

/** Without the filters that only Istio's own build of Envoy has. */
const forStockEnvoy = {
  'values.pilot.env.PILOT_ENABLE_METADATA_EXCHANGE': 'false',
  'values.pilot.env.PILOT_ENABLE_ALPN_FILTER': 'false',
};

/** Sidecars are ready as soon as they can be, and do not outlive their pods' containers for five seconds. */
const quick = {
  'values.global.proxy.readinessInitialDelaySeconds': '1',
  'values.global.proxy.readinessPeriodSeconds': '1',
  'meshConfig.defaultConfig.terminationDrainDuration': '1s',
};

/** What differs from the charts besides: our images, few resources, nothing that nobody looks at. */
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

/** Resolves when istiod is ready to inject. */
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
 * Writes a program that does as istioctl does and says that it is of this version: with its images under another tag,
 * that is an upgrade. What it renders is for stock Envoys, whose readiness is looked at each second.
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
