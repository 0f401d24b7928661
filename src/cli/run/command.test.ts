import { expect, test } from 'vitest';
import { runCommand } from './command.ts';

/** The error message for invalid arguments. */
async function errorFor(args: readonly string[]): Promise<string> {
  const command = runCommand().showSuggestionAfterError().exitOverride();
  let text = '';
  command.configureOutput({ writeErr: (part) => (text += part) });
  await command.parseAsync(args, { from: 'user' }).catch(() => undefined);
  return text;
}

test.each<[string, string[], string]>([
  ['an unknown flag', ['--leader-elct'], "error: unknown option '--leader-elct'\n(Did you mean --leader-elect?)"],
  ['a domain that ends with a dot', ['--cluster-domain', 'k8s.example.com.'], 'A domain is names with dots between'],
  ['an empty label', ['--remove-labels', 'a,,b'], 'comma-separated list contains empty value'],
  ['an invalid namespace', ['--namespaces', 'a,B'], 'Namespaces are names with commas between them; "B" is none.'],
  [
    'a webhook together with --namespaces',
    ['--namespaces', 'a', '--webhook-service', 'w'],
    "option '--namespaces <names>' cannot be used with option '--webhook-service <name>'",
  ],
  [
    'an invalid address',
    ['--metrics-bind-address', '8080'],
    'An address is host:port, :port for all addresses, or 0 for nowhere.',
  ],
  ['an invalid port', ['--webhook-port', '70000'], 'A port is a whole number from 0 to 65535.'],
  ['an unknown level', ['--log-level', 'loud'], 'Allowed choices are trace, debug, info, warn, error, fatal, silent.'],
  ['an unknown encoder', ['--zap-encoder', 'xml'], 'It is json or console.'],
  ['an unknown zap level', ['--zap-log-level', 'loud'], 'It is debug, info, error, panic or a whole number'],
  [
    'an address of the dashboard with a scheme',
    ['--dashboard-host', 'https://dash.example'],
    'A host is a name without a scheme, with a port or without: offshoot.example.com.',
  ],
  ['a session that is too short', ['--dashboard-session', '5s'], 'It must be at least 1m.'],
  ['an invalid boolean', ['--leader-elect=maybe'], 'It is true or false.'],
  [
    'two addresses of the webhook',
    ['--webhook-loopback', '--webhook-service', 'w'],
    "option '--webhook-loopback' cannot be used with option '--webhook-service <name>'",
  ],
  [
    'a webhook on loopback with leader election',
    ['--webhook-loopback', '--leader-elect'],
    "option '--webhook-loopback' cannot be used with option '--leader-elect [bool]'",
  ],
])('run rejects %s', async (_name, args, text) => {
  expect(await errorFor(args)).toContain(text);
});

test('run rejects --namespaces with other parts than environments', async () => {
  const args = ['--namespaces', 'a', '--controllers', 'environments,targets'];
  await expect(runCommand().parseAsync(args, { from: 'user' })).rejects.toThrow(
    '--namespaces is for environments: targets needs the whole cluster',
  );
});
