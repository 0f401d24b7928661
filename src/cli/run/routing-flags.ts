// Flags for the settings of routing rules, with their environment variables.
import type { Command } from 'commander';
import type { RoutingSettings } from './parts.ts';
import { choiceFlag, toggleFlag } from './flag-kinds.ts';

export interface RoutingOptions {
  readonly routingBackend: NonNullable<RoutingSettings['backend']>;
  readonly routingMode: NonNullable<RoutingSettings['mode']>;
  readonly routingAllowAll: boolean;
}

/** Adds the flags, under their own heading. */
export function routingFlags(command: Command): Command {
  const options = [
    choiceFlag(
      '--routing-backend',
      ['appmesh-crd', 'appmesh-api'],
      'write meshes as objects of the App Mesh controller, or to AWS itself',
    ),
    choiceFlag(
      '--routing-mode',
      ['strict', 'compat'],
      'never drop anything silently, or do exactly what SuperGloo did',
    ),
    toggleFlag(
      '--routing-allow-all',
      true,
      'workloads may call every service of their mesh, not only those with rules',
    ),
  ];
  for (const option of options) {
    const variable = option.long!.slice(2).replaceAll('-', '_').toUpperCase();
    command.addOption(option.env(variable).helpGroup('Routing rules (--controllers routing):'));
  }
  return command;
}

/** The settings of the flags. */
export function routingSettings(options: RoutingOptions): RoutingSettings {
  const { routingBackend, routingMode, routingAllowAll } = options;
  return { backend: routingBackend, mode: routingMode, allowAll: routingAllowAll };
}
