import { Command } from 'commander';
import { expect, test } from 'vitest';
import { defaultSettings } from '../../environments/settings.ts';
import { environmentFlags, environmentSettings } from './environment-flags.ts';
import type { EnvironmentOptions } from './environment-flags.ts';

test.each<[string[], readonly string[]]>([
  [[], defaultSettings.trackingLabels],
  [
    ['--tracking-labels', 'deployer.example.com/*, app.kubernetes.io/part-of'],
    ['deployer.example.com/*', 'app.kubernetes.io/part-of'],
  ],
  [['--tracking-labels', 'none'], []],
])('--tracking-labels sets the labels of a GitOps tool: %j', (args, labels) => {
  const command = environmentFlags(new Command()).parse(args, { from: 'user' });
  expect(environmentSettings(command.opts<EnvironmentOptions>()).trackingLabels).toEqual(labels);
});

test.each<[string[], object]>([
  [[], { gatewayRoutes: true, settleMs: defaultSettings.settleMs }],
  [['--gateway-routes=false', '--rule-settle', '0s'], { gatewayRoutes: false, settleMs: 0 }],
  [['--rule-settle', '1m30s'], { settleMs: 90_000 }],
  [[], { clusterDomain: 'cluster.local' }],
  [['--cluster-domain', 'k8s.example.com'], { clusterDomain: 'k8s.example.com' }],
  [[], { keyHeader: 'x-env' }],
  [['--key-header', 'X-Team-Env'], { keyHeader: 'x-team-env' }],
])('environmentFlags sets the settings of routes: %j', (args, settings) => {
  const command = environmentFlags(new Command()).parse(args, { from: 'user' });
  expect(environmentSettings(command.opts<EnvironmentOptions>())).toMatchObject(settings);
});
