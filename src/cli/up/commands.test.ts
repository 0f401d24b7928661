import { expect, test } from 'vitest';
import { terminalOf } from './commands.ts';

const env = { HOME: '/home/ann' };
const own = '/home/ann/.local/state/offshoot/kubeconfig';

test('terminalOf uses npx in a checkout, and the context of the default kubeconfig', () => {
  expect(terminalOf({ kubeconfig: own }, { ...env, npm_command: 'start' })).toEqual({
    offshoot: 'npx offshoot',
    flags: { offshoot: '--context offshoot', kubectl: `--kubeconfig ${own}` },
  });
});

test('terminalOf names another kubeconfig, and uses a merged context for both programs', () => {
  expect(terminalOf({ kubeconfig: '/my data/k' }, env)).toEqual({
    offshoot: 'offshoot',
    flags: { offshoot: "--kubeconfig '/my data/k'", kubectl: "--kubeconfig '/my data/k'" },
  });
  expect(terminalOf({ kubeconfig: own, merged: { context: 'mine' } }, env).flags).toEqual({
    offshoot: '--context mine',
    kubectl: '--context mine',
  });
});
