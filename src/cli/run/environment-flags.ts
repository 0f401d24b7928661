// Flags for the settings of all environments, for `run` and for commands that show what it would do.
import { InvalidArgumentError, Option } from 'commander';
import type { Command } from 'commander';
import { isDnsLabel } from '../options.ts';
import { timeFlag, toggleFlag } from './flag-kinds.ts';
import { defaultSettings } from '../../environments/index.ts';

export interface EnvironmentOptions {
  readonly versionLabel: string;
  readonly defaultVersion: string;
  readonly keyHeader: string;
  readonly removeLabels: readonly string[];
  readonly trackingLabels: readonly string[];
  readonly clusterDomain: string;
  readonly gatewayRoutes: boolean;
  readonly ruleSettle: number;
}

/**
 * Adds `--version-label`, `--default-version` and the flags for labels and routes, with their environment variables.
 */
export function environmentFlags(command: Command): Command {
  return command
    .addOption(
      new Option('--version-label <key>', 'label that tells versions of a workload apart')
        .env('VERSION_LABEL')
        .default('version'),
    )
    .addOption(
      new Option('--default-version <value>', 'version that requests reach if no environment matches them')
        .env('DEFAULT_VERSION')
        .default('shared'),
    )
    .addOption(
      new Option('--key-header <name>', 'header that carries the key of an environment')
        .argParser(parseHeaderName)
        .env('KEY_HEADER')
        .default(defaultSettings.keyHeader),
    )
    .addOption(
      new Option('--remove-labels <keys>', 'labels that clones do not get; repeatable')
        .argParser(parseLabelList)
        .env('REMOVE_LABELS')
        .default([], 'none'),
    )
    .addOption(
      new Option(
        '--tracking-labels <keys>',
        'labels by which a GitOps tool tracks its objects, which clones do not get; none',
      )
        .argParser((text) => (text === 'none' ? [] : parseLabelList(text, [])))
        .env('TRACKING_LABELS')
        .default(defaultSettings.trackingLabels, defaultSettings.trackingLabels.join(',')),
    )
    .addOption(clusterDomainFlag())
    .addOption(
      toggleFlag(
        '--gateway-routes',
        defaultSettings.gatewayRoutes,
        'add routes to VirtualServices at a gateway, whatever their hosts',
      ).env('GATEWAY_ROUTES'),
    )
    .addOption(
      timeFlag(
        '--rule-settle',
        '1s',
        '0s',
        'how long a rule exists and its clone is available before a route points to them',
      ).env('RULE_SETTLE'),
    );
}

/** The settings of the flags. */
export function environmentSettings(options: EnvironmentOptions) {
  const { ruleSettle: settleMs, ...rest } = options;
  const { versionLabel, defaultVersion, keyHeader, removeLabels, trackingLabels, clusterDomain, gatewayRoutes } = rest;
  return {
    versionLabel,
    defaultVersion,
    keyHeader,
    removeLabels,
    trackingLabels,
    clusterDomain,
    gatewayRoutes,
    settleMs,
  };
}

/** `--cluster-domain`. */
export function clusterDomainFlag(): Option {
  return new Option('--cluster-domain <name>', 'domain that the names of services end in')
    .argParser(parseDomain)
    .env('CLUSTER_DOMAIN')
    .default(defaultSettings.clusterDomain);
}

function parseHeaderName(text: string): string {
  const name = text.toLowerCase();
  if (/^[\w!#$%&'*+.`|~^-]+$/.test(name) && name !== 'baggage') return name;
  throw new InvalidArgumentError('A header has letters, digits and hyphens; baggage is always read.');
}

function parseDomain(text: string): string {
  if (text.split('.').every(isDnsLabel)) return text;
  throw new InvalidArgumentError('A domain is names with dots between them, such as cluster.local.');
}

function parseLabelList(text: string, before: readonly string[]): readonly string[] {
  const keys = text.split(',').map((key) => key.trim());
  if (keys.includes('')) throw new InvalidArgumentError('comma-separated list contains empty value');
  return [...before, ...keys];
}
