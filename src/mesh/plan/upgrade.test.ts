import { expect, test } from 'vitest';
import { planUpgrade } from './upgrade.ts';
import type { UpgradeQuestion } from './upgrade.ts';

const release = { version: '0.1.0', istioVersion: '1.31.0' };
const istioctl = { name: 'istioctl', isForAny: false };
const asked = (versions: UpgradeQuestion['versions'], renderer = istioctl) =>
  planUpgrade({ versions, release, renderer });

test('planUpgrade: this release carries its own version, whatever the flavour of the images', () => {
  expect(asked({ running: '1.30.2', offered: '1.31.0-distroless' })).toEqual({
    target: '1.31.0-distroless',
    from: '1.30.2',
    carrier: 'release',
    how: 'Offshoot 0.1.0, this release, carries Istio 1.31.0: its controllers upgrade the mesh once they run.',
  });
});

test('planUpgrade: another version needs another release, or a renderer for it', () => {
  const { carrier, how } = asked({ offered: '1.32.0' });
  expect(carrier).toBe('renderer');
  expect(how).toContain('A release that carries 1.32.0 upgrades the mesh by itself.');
  expect(how).toContain('"offshoot run --controllers mesh --istio-version 1.32.0 --istioctl FILE"');
  expect(asked({ offered: '1.32.0' }, { name: 'built-in', isForAny: true }).how).toContain(
    'The built-in renderer makes manifests of any version',
  );
});

test.each([
  ['1.30.0', 'A mesh is never downgraded.'],
  ['1.33.0', 'Upgrade one minor version at a time: to 1.32 first.'],
  ['2.0.0', 'Another major version needs an installation of its own.'],
])('planUpgrade to %s, which is refused, says what to do instead', (offered, how) => {
  const upgrade = asked({ recorded: '1.31.0-distroless', offered, refusal: 'no' });
  expect(upgrade).toEqual({ target: offered, from: '1.31.0-distroless', carrier: 'renderer', how, refusal: 'no' });
});

test('planUpgrade to the running version says that there is nothing to upgrade', () => {
  expect(asked({ running: '1.31.0', offered: '1.31.0' })).toMatchObject({
    how: 'Istio 1.31.0 is already running: there is nothing to upgrade.',
    isThere: true,
  });
});
