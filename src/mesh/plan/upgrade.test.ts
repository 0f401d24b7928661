import { expect, test } from 'vitest';
import { planUpgrade } from './upgrade.ts';
import type { UpgradeQuestion } from './upgrade.ts';

const release = { version: '0.1.0', istioVersion: '1.31.0' };
const istioctl = { name: 'istioctl', isForAny: false };
const asked = (versions: UpgradeQuestion['versions'], renderer = istioctl) =>
  planUpgrade({ versions, release, renderer });

test('the version of this release comes with it, whatever the flavour of the images', () => {
  expect(asked({ running: '1.30.2', offered: '1.31.0-distroless' })).toEqual({
    target: '1.31.0-distroless',
    from: '1.30.2',
    carrier: 'release',
    how: 'Offshoot 0.1.0, this release, carries Istio 1.31.0: its controllers upgrade the mesh once they run.',
  });
});

test('another version needs another release, or a renderer that can make it', () => {
  const { carrier, how } = asked({ offered: '1.32.0' });
  expect(carrier).toBe('renderer');
  expect(how).toContain('A release that carries 1.32.0 upgrades the mesh by itself.');
  expect(how).toContain('"offshoot run --controllers mesh --istio-version 1.32.0 --istioctl FILE"');
  expect(asked({ offered: '1.32.0' }, { name: 'built-in', isForAny: true }).how).toContain(
    'The built-in renderer makes manifests of any version',
  );
});

test('a version that the gate refuses says why; what was recorded stands for what does not run', () => {
  expect(asked({ recorded: '1.28.0', offered: '1.31.0', refusal: 'too far' })).toMatchObject({
    from: '1.28.0',
    refusal: 'too far',
  });
});
