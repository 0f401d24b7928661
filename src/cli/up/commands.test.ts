import { expect, test } from 'vitest';
import { terminalOf } from './commands.ts';

const env = { HOME: '/home/ann' };
const own = '/home/ann/.local/state/offshoot/kubeconfig';

test('in a checkout the command is called by npx, and finds the cluster by its context', () => {
  expect(terminalOf({ kubeconfig: own }, { ...env, npm_command: 'start' })).toEqual({
    offshoot: 'npx offshoot',
    flags: { offshoot: '--context offshoot', kubectl: `--kubeconfig ${own}` },
  });
});

test('a kubeconfig elsewhere is named, and a context of the own kubeconfig is used by both', () => {
  expect(terminalOf({ kubeconfig: '/my data/k' }, env)).toEqual({
    offshoot: 'offshoot',
    flags: { offshoot: "--kubeconfig '/my data/k'", kubectl: "--kubeconfig '/my data/k'" },
  });
  expect(terminalOf({ kubeconfig: own, merged: { context: 'mine' } }, env).flags).toEqual({
    offshoot: '--context mine',
    kubectl: '--context mine',
  });
});
