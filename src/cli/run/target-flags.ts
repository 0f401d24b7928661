// Flags for the settings of the claim system, with their environment variables.
import { readFileSync } from 'node:fs';
import { X509Certificate } from 'node:crypto';
import { InvalidArgumentError, Option } from 'commander';
import type { Command } from 'commander';
import { choiceFlag, timeFlag, toggleFlag } from './flag-kinds.ts';
import { parseBoolean } from './go-flags.ts';
import { isDnsLabel } from '../options.ts';
import type { Part, TargetSettings } from './parts.ts';

export interface TargetOptions {
  readonly claimDeletion: 'wait' | 'eager';
  readonly provisionerAnnotation: 'provisioner' | 'class';
  readonly claimRefShape: 'string' | 'object';
  readonly lostHeals: 'reference' | 'name';
  readonly unboundCondition: boolean;
  readonly removeUnbound: boolean;
  readonly insecureTargets: boolean;
  readonly provisioningDeadline: number;
  readonly tokenLifetime: number;
  readonly targetClusterUrl?: string;
  readonly targetClusterCa?: string;
  readonly spaceControllers: boolean;
  readonly hostNamespace?: string;
  readonly rootSpace: string;
  readonly targetClusterName: string;
  readonly targetClusterRoles: readonly string[];
}

const TENANT = 'cluster-role.toolchain.dev.openshift.com/tenant';

/**
 * Adds the flags, under their own headings. Each has an environment variable: its name in capitals, with "_" for "-".
 */
export function targetFlags(command: Command): Command {
  const groups = { Claims: claimFlags(), Spaces: spaceFlags() };
  for (const [group, options] of Object.entries(groups)) {
    for (const option of options) {
      const variable = option.envVar ?? option.long!.slice(2).replaceAll('-', '_').toUpperCase();
      command.addOption(option.env(variable).helpGroup(`${group} (--controllers targets):`));
    }
  }
  return command;
}

function claimFlags(): Option[] {
  return [
    choiceFlag(
      '--claim-deletion',
      ['wait', 'eager'],
      'a deleted claim waits until its target is gone, or is removed at once',
    ),
    choiceFlag('--provisioner-annotation', ['provisioner', 'class'], 'whose name selects the provisioner for a claim'),
    choiceFlag('--claim-ref-shape', ['string', 'object'], 'how new references from targets to claims are written'),
    choiceFlag(
      '--lost-heals',
      ['reference', 'name'],
      'a lost claim rebinds to a target that refers to it, or to any target with the name',
    ),
    toggleFlag('--unbound-condition', true, 'an Environment reports that its claim is not bound'),
    toggleFlag('--remove-unbound', false, 'an Environment is no longer deployed to while its claim is not bound'),
    toggleFlag('--insecure-targets', false, 'new targets allow unverified certificates')
      .env('DEV_ONLY_IGNORE_SELFSIGNED_CERT_IN_DEPLOYMENT_TARGET')
      .argParser((text) => text !== '' && parseBoolean(text)),
    timeFlag('--provisioning-deadline', '10m', '1s', 'how long a claim may wait before it reports an error'),
    timeFlag('--token-lifetime', '7d', '10m', 'how long credentials of targets are valid; they are renewed in time'),
    new Option('--target-cluster-url <url>', 'where targets find this cluster (default: where we do)').argParser(
      parseUrl,
    ),
    new Option(
      '--target-cluster-ca <file>',
      'the authority to trust there, or "system" for those of the machine (default: the one that we trust)',
    ).argParser(readAuthority),
  ];
}

function spaceFlags(): Option[] {
  return [
    toggleFlag('--space-controllers', true, 'manage SpaceRequests and Spaces; false if another operator does'),
    new Option('--host-namespace <name>', 'where Spaces are (default: that of --namespace)').argParser(parseName),
    new Option('--root-space <name>', 'parent for namespaces that belong to no Space; "" for none')
      .argParser((text) => (text === '' ? text : parseName(text)))
      .default('offshoot'),
    new Option('--target-cluster-name <name>', 'what Spaces call this cluster').default('local'),
    new Option('--target-cluster-roles <names>', 'the roles of this cluster, for Spaces that require roles')
      .argParser((text) => (text === '' ? [] : text.split(',').map((role) => role.trim())))
      .default([TENANT], TENANT),
  ];
}

/** The part without the operator that does some of its work, if the flags leave that to it. */
export function withoutOther(part: Part, { spaceControllers }: TargetOptions): Part {
  const { other, ...rest } = part;
  return other === undefined || spaceControllers ? part : rest;
}

/** The settings of the flags. */
export function targetSettings(options: TargetOptions): TargetSettings {
  const { claimDeletion, provisionerAnnotation, claimRefShape, lostHeals, unboundCondition, removeUnbound } = options;
  const { insecureTargets, spaceControllers, hostNamespace, rootSpace } = options;
  return {
    claimDeletion,
    provisionerAnnotation,
    claimRefShape,
    lostHeals,
    unboundCondition,
    removeUnbound,
    insecureTargets,
    provisioningDeadlineMs: options.provisioningDeadline,
    tokenLifetimeMs: options.tokenLifetime,
    spaceControllers,
    ...(hostNamespace !== undefined && { hostNamespace }),
    rootSpace,
    cluster: {
      name: options.targetClusterName,
      roles: options.targetClusterRoles,
      ...(options.targetClusterUrl !== undefined && { server: options.targetClusterUrl }),
      ...(options.targetClusterCa !== undefined && { caPem: options.targetClusterCa, insecureSkipTlsVerify: false }),
    },
  };
}

function parseName(text: string): string {
  if (isDnsLabel(text)) return text;
  throw new InvalidArgumentError('A name is at most 63 lowercase letters, digits and hyphens.');
}

function parseUrl(text: string): string {
  if (/^https?:$/.test(URL.parse(text)?.protocol ?? '')) return text;
  throw new InvalidArgumentError('A URL is written as https://host:port.');
}

/** Reads the certificate of a file; empty for the system's certificates. */
function readAuthority(file: string): string {
  if (file === 'system') return '';
  try {
    const pem = readFileSync(file, 'utf8');
    void new X509Certificate(pem);
    return pem;
  } catch (error) {
    throw new InvalidArgumentError(`It is not a certificate: ${(error as Error).message}`);
  }
}
