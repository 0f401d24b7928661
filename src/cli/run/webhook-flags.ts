// Flags and environment variables of `offshoot run` for the admission webhook.
import { Option } from 'commander';
import type { Command } from 'commander';
import type { Logger } from '../../controller/index.ts';
import { durationFlag } from '../options.ts';
import { parsePort } from './addresses.ts';
import type { WebhookOptions } from './control-plane.ts';
import { choiceFlag, parsedFlag } from './flag-kinds.ts';
import type { Part } from './parts.ts';

export interface WebhookFlags {
  readonly webhook: boolean;
  readonly webhookPort: number;
  readonly webhookService?: string;
  readonly webhookLoopback?: boolean;
  readonly webhookCertDir?: string;
  readonly webhookRegistration: 'create' | 'existing';
  readonly shutdownDelay?: number;
}

/** Adds `--webhook-…` and `--shutdown-delay`. */
export function webhookFlags(command: Command): Command {
  return command
    .option('--no-webhook', 'serve no admission webhook')
    .addOption(
      parsedFlag('--webhook-port <number>', 'port of the admission webhook', parsePort, 'WEBHOOK_PORT').default(9443),
    )
    .addOption(
      new Option(
        '--webhook-service <name>',
        'the Service by which the API server reaches the webhook (default in a pod: offshoot-webhook)',
      ).env('WEBHOOK_SERVICE'),
    )
    .addOption(
      new Option('--webhook-loopback', 'register the webhook at 127.0.0.1: for a cluster on this machine').conflicts([
        'webhookService',
        'leaderElect',
      ]),
    )
    .addOption(
      new Option(
        '--webhook-cert-dir <dir>',
        'use tls.crt and tls.key from this directory instead of generating them',
      ).env('WEBHOOK_CERT_DIR'),
    )
    .addOption(
      choiceFlag(
        '--webhook-registration',
        ['create', 'existing'],
        'create the ValidatingWebhookConfigurations, or only fill in existing ones, such as those of a chart',
      ).env('WEBHOOK_REGISTRATION'),
    )
    .addOption(
      parsedFlag(
        '--shutdown-delay <duration>',
        'how long the webhook keeps answering after a signal to stop (default: 5s; 0s with --webhook-loopback)',
        durationFlag,
        'SHUTDOWN_DELAY',
      ),
    );
}

/** How the webhook is served and registered; undefined if it is disabled. */
export function webhookOptions(
  options: WebhookFlags & { readonly namespaces?: readonly string[] },
  inPod: boolean,
  logger: Logger,
): WebhookOptions | undefined {
  if (!options.webhook || process.env['ENABLE_WEBHOOKS'] === 'false') return undefined;
  // A registration applies to the whole cluster.
  if (options.namespaces !== undefined) return undefined;
  const {
    webhookPort: port,
    webhookCertDir: certDir,
    shutdownDelay: drainMs,
    webhookService,
    webhookLoopback,
    webhookRegistration,
  } = options;
  const service = webhookService ?? (inPod ? 'offshoot-webhook' : undefined);
  if (service === undefined && !webhookLoopback) {
    logger.info(
      'no admission webhook: this is not a pod, and neither --webhook-service nor --webhook-loopback is given',
    );
    return undefined;
  }
  return {
    port,
    reach: service === undefined ? 'loopback' : { service },
    ...(certDir !== undefined && { certDir }),
    ...(drainMs !== undefined && { drainMs }),
    ...(webhookRegistration === 'existing' && { existingOnly: true }),
  };
}

/** Removes the webhook of the claim system if the variable of the original operator disables it. */
export function withoutDisabledWebhook(part: Part): Part {
  const { webhook: _webhook, ...rest } = part;
  const isDisabled = part.name === 'targets' && /^true$/i.test(process.env['DISABLE_APPSTUDIO_WEBHOOK'] ?? '');
  return isDisabled ? rest : part;
}
