import { expect, test } from 'vitest';
import { inTerminal } from './terminal.ts';

const up = { offshoot: 'npx offshoot', flags: { offshoot: '--context offshoot', kubectl: '--kubeconfig /a/b' } };

test.each([
  ['offshoot prove pr-7 -n shop', 'npx offshoot prove pr-7 -n shop --context offshoot'],
  ['offshoot routing --help', 'npx offshoot routing --help'],
  ['kubectl get pods', 'kubectl get pods --kubeconfig /a/b'],
  ["kubectl apply -f - <<'EOF'\nkind: A\nEOF", "kubectl apply -f - --kubeconfig /a/b <<'EOF'\nkind: A\nEOF"],
  ["curl -H 'x-env: pr-7' http://a/", "curl -H 'x-env: pr-7' http://a/"],
])('inTerminal: %s', (command, shown) => {
  expect(inTerminal(command, up)).toBe(shown);
  expect(inTerminal(command, undefined)).toBe(command);
});
