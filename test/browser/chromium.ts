// A real Chromium: that of `OFFSHOOT_CHROMIUM`, or of the machine (Debian's package is `chromium`).
import { accessSync, constants } from 'node:fs';
import path from 'node:path';
import { chromium } from 'playwright-core';
import type { Browser } from 'playwright-core';
import type { Need } from '../support/needs.ts';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome'];

/** Where it is; undefined where there is none. */
function findChromium(): string | undefined {
  const { OFFSHOOT_CHROMIUM: chosen, PATH = '' } = process.env;
  const folders = [...PATH.split(path.delimiter), '/usr/bin'];
  const candidates = chosen ? [chosen] : NAMES.flatMap((name) => folders.map((folder) => path.join(folder, name)));
  return candidates.find((file) => {
    try {
      accessSync(file, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

export const browserNeed: Need = {
  what: 'browser',
  missing: findChromium() === undefined ? 'there is no Chromium: run `apt-get install chromium`' : undefined,
  variable: 'OFFSHOOT_BROWSER',
};

/** Starts it. */
export function startBrowser(): Promise<Browser> {
  // Whoever runs tests as root in a container has no sandbox for it.
  return chromium.launch({ executablePath: findChromium()!, args: ['--no-sandbox', '--disable-gpu'] });
}
