import { expect, test } from 'vitest';
import { runCommand } from './command.ts';

/** What the command says of arguments that it refuses. */
async function refusal(args: readonly string[]): Promise<string> {
  const command = runCommand().showSuggestionAfterError().exitOverride();
  let text = '';
  command.configureOutput({ writeErr: (part) => (text += part) });
  await command.parseAsync(args, { from: 'user' }).catch(() => undefined);
  return text;
}

test.each<[string, string[], string]>([
  ['an unknown flag', ['--leader-elct'], "error: unknown option '--leader-elct'\n(Did you mean --leader-elect?)"],
  ['a domain with a dot at its end', ['--cluster-domain', 'k8s.example.com.'], 'A domain is names with dots between'],
  ['an empty label', ['--remove-labels', 'a,,b'], 'comma-separated list contains empty value'],
  ['no namespaces', ['--namespaces', 'a,B'], 'Namespaces are names with commas between them; "B" is none.'],
  [
    'a webhook in some namespaces',
    ['--namespaces', 'a', '--webhook-service', 'w'],
    "option '--namespaces <names>' cannot be used with option '--webhook-service <name>'",
  ],
  [
    'no address',
    ['--metrics-bind-address', '8080'],
    'An address is host:port, :port for all addresses, or 0 for nowhere.',
  ],
  ['a port that is none', ['--webhook-port', '70000'], 'A port is a whole number from 0 to 65535.'],
  ['an unknown level', ['--log-level', 'loud'], 'Allowed choices are trace, debug, info, warn, error, fatal, silent.'],
  ['an unknown encoder', ['--zap-encoder', 'xml'], 'It is json or console.'],
  ['no level of the other logger', ['--zap-log-level', 'loud'], 'It is debug, info, error, panic or a whole number'],
  [
    'an address of the dashboard with a scheme',
    ['--dashboard-host', 'https://dash.example'],
    'A host is a name without a scheme, with a port or without: offshoot.example.com.',
  ],
  ['a session of no time', ['--dashboard-session', '5s'], 'It must be at least 1m.'],
  ['no truth value', ['--leader-elect=maybe'], 'It is true or false.'],
  [
    'two ways to the webhook',
    ['--webhook-loopback', '--webhook-service', 'w'],
    "option '--webhook-loopback' cannot be used with option '--webhook-service <name>'",
  ],
  [
    'a webhook at one address for several processes',
    ['--webhook-loopback', '--leader-elect'],
    "option '--webhook-loopback' cannot be used with option '--leader-elect [bool]'",
  ],
])('%s is refused', async (_name, args, text) => {
  expect(await refusal(args)).toContain(text);
});

test('single namespaces are for environments alone', async () => {
  const args = ['--namespaces', 'a', '--controllers', 'environments,targets'];
  await expect(runCommand().parseAsync(args, { from: 'user' })).rejects.toThrow(
    '--namespaces is for environments: targets needs the whole cluster',
  );
});
