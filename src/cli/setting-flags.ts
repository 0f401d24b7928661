// Flags for the settings that all environments share. `run` and whoever shows what it would do take the same ones.
import { InvalidArgumentError, Option } from 'commander';
import type { Command } from 'commander';

export interface SettingOptions {
  readonly versionLabel: string;
  readonly defaultVersion: string;
  readonly removeLabels: readonly string[];
}

/** Adds `--version-label`, `--default-version` and `--remove-labels`, with the variables that stand for them. */
export function settingFlags(command: Command): Command {
  return command
    .addOption(
      new Option('--version-label <key>', 'label that tells versions of a workload apart')
        .env('VERSION_LABEL')
        .default('version'),
    )
    .addOption(
      new Option('--default-version <value>', 'version that requests reach which no environment claims')
        .env('DEFAULT_VERSION')
        .default('shared'),
    )
    .addOption(
      new Option('--remove-labels <keys>', 'labels that clones do not get; repeatable')
        .argParser(parseLabelList)
        .env('REMOVE_LABELS')
        .default([], 'none'),
    );
}

/** The settings that the flags say. */
export function settingsOf({ versionLabel, defaultVersion, removeLabels }: SettingOptions): SettingOptions {
  return { versionLabel, defaultVersion, removeLabels };
}

function parseLabelList(text: string, before: readonly string[]): readonly string[] {
  const keys = text.split(',').map((key) => key.trim());
  if (keys.includes('')) throw new InvalidArgumentError('comma-separated list contains empty value');
  return [...before, ...keys];
}
