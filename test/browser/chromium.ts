// Finds and starts a real Chromium: `OFFSHOOT_CHROMIUM`, or the one in the PATH (Debian's package is `chromium`).
import { accessSync, constants } from 'node:fs';
import path from 'node:path';
import { chromium } from 'playwright-core';
import type { Browser } from 'playwright-core';
import type { Requirement } from '../support/requirements.ts';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome'];

/** The path of the executable; undefined if there is none. */
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

export const browserRequirement: Requirement = {
  what: 'browser',
  missing: findChromium() === undefined ? 'there is no Chromium: run `apt-get install chromium`' : undefined,
  variable: 'OFFSHOOT_BROWSER',
};

export function startBrowser(): Promise<Browser> {
  // The sandbox does not work for root in a container.
  return chromium.launch({ executablePath: findChromium()!, args: ['--no-sandbox', '--disable-gpu'] });
}
