// Flags for the lifecycle of Istio, with their environment variables. Flags of the original operator keep their names.
import { InvalidArgumentError, Option } from 'commander';
import type { Command } from 'commander';
import { builtinRenderer, defaultMeshSettings, istioctlRenderer, parseWindow } from '../../mesh/index.ts';
import { failure } from '../exit.ts';
import { choiceFlag, timeFlag, toggleFlag } from './flag-kinds.ts';
import type { MeshSettings } from './parts.ts';

export interface MeshOptions {
  readonly istioVersion: string;
  readonly istioHub: string;
  readonly istioRenderer: 'istioctl' | 'built-in';
  readonly istioctl: string;
  readonly istioExperimental: boolean;
  readonly istioDomain?: string;
  readonly istioImagePullSecret?: string;
  readonly restartBatch: number;
  readonly restartWindow?: NonNullable<MeshSettings['window']>;
  readonly restartUninjected: boolean;
  readonly reconciliationInterval: number;
  readonly failureBaseDelay: number;
  readonly failureMaxDelay: number;
  readonly rateLimiterBurst: number;
  readonly rateLimiterFrequency: number;
}

/** Adds the flags, under their own heading. */
export function meshFlags(command: Command): Command {
  for (const option of [...installationFlags(), ...restartFlags(), ...controllerFlags()]) {
    const variable = option.envVar ?? option.long!.slice(2).replaceAll('-', '_').toUpperCase();
    command.addOption(option.env(variable).helpGroup('Istio (--controllers mesh):'));
  }
  return command;
}

const ISTIOCTL = 'istioctl';

function installationFlags(): Option[] {
  const { istioVersion, hub } = defaultMeshSettings;
  return [
    new Option(
      '--istio-version <version>',
      'the Istio version to install; other versions than that of the release are for trials',
    )
      .argParser(parseVersion)
      .default(istioVersion),
    new Option('--istio-hub <registry>', 'the registry of its images').default(hub),
    choiceFlag(
      '--istio-renderer',
      ['istioctl', 'built-in'],
      'the renderer of its manifests; "built-in" runs no real Istio',
    ),
    new Option('--istioctl <file>', 'the istioctl of that version, or a name to be found on PATH').default(ISTIOCTL),
    toggleFlag('--istio-experimental', false, 'allow what is not ready for production: spec.experimental'),
    new Option('--istio-domain <name>', 'a domain to create a gateway for'),
    new Option('--istio-image-pull-secret <name>', 'the Secret to pull images with').env('SKR_IMG_PULL_SECRET'),
  ];
}

function restartFlags(): Option[] {
  return [
    new Option('--restart-batch <number>', 'how many workloads may be restarting at once')
      .argParser(parseCount)
      .default(defaultMeshSettings.batchSize),
    new Option(
      '--restart-window <times>',
      'the default maintenance window of workloads, such as "Sat-Sun 00:00-04:00" (UTC)',
    ).argParser(parseTimes),
    toggleFlag('--restart-uninjected', false, 'also restart pods that should have a sidecar but have none'),
  ];
}

function controllerFlags(): Option[] {
  return [
    timeFlag('--reconciliation-interval', '10h', '1s', 'reconcile everything again after this time'),
    timeFlag('--failure-base-delay', '1s', '1ms', 'the first retry delay after a failure; doubles each time'),
    timeFlag('--failure-max-delay', '1000s', '1ms', 'the longest retry delay after a failure'),
    new Option('--rate-limiter-burst <number>', 'how many retries may run at once (burst)')
      .argParser(parseCount)
      .default(defaultMeshSettings.retryLimit.burst),
    new Option('--rate-limiter-frequency <number>', 'how many retries per second after that')
      .argParser(parseCount)
      .default(defaultMeshSettings.retryLimit.perSecond),
  ];
}

/** The settings of the flags. */
export function meshSettings(options: MeshOptions): MeshSettings {
  const { istioDomain: domain, istioImagePullSecret: imagePullSecret, restartWindow: window } = options;
  if (options.istioRenderer === 'built-in' && options.istioctl !== ISTIOCTL) {
    const problem = 'the built-in renderer calls none; leave it out, or --istio-renderer built-in';
    throw failure('ConflictingFlags', `--istioctl "${options.istioctl}": ${problem}`);
  }
  return {
    istioVersion: options.istioVersion,
    hub: options.istioHub,
    renderer: options.istioRenderer === 'built-in' ? builtinRenderer : istioctlRenderer({ program: options.istioctl }),
    allowExperimental: options.istioExperimental,
    ...(domain !== undefined && { domain }),
    ...(imagePullSecret !== undefined && { imagePullSecret }),
    batchSize: options.restartBatch,
    ...(window && { window }),
    restartUninjected: options.restartUninjected,
    reconciliationIntervalMs: options.reconciliationInterval,
    failureBaseDelayMs: options.failureBaseDelay,
    failureMaxDelayMs: options.failureMaxDelay,
    retryLimit: { burst: options.rateLimiterBurst, perSecond: options.rateLimiterFrequency },
  };
}

/** Checks the Istio version of a flag. */
export function parseVersion(text: string): string {
  if (/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(text)) return text;
  throw new InvalidArgumentError('A version of Istio has three numbers, such as 1.31.0.');
}

function parseCount(text: string): number {
  const count = Number(text);
  if (Number.isInteger(count) && count >= 1) return count;
  throw new InvalidArgumentError('It must be a whole number of at least 1.');
}

function parseTimes(text: string): NonNullable<MeshSettings['window']> {
  const window = parseWindow(text);
  if (window !== undefined) return window;
  throw new InvalidArgumentError('A window is written like "Sat-Sun 00:00-04:00".');
}
