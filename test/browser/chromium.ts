import { accessSync, constants, existsSync } from 'node:fs';

/** Debian's Chromium; PORTOLAN_CHROMIUM names another one. */
export const windowedFile = process.env['PORTOLAN_CHROMIUM'] || '/usr/bin/chromium';

/** Debian's Chromium without windows where it is there, as test/setup.sh installs it: a quarter less time for the same pages. */
const headlessFile = '/usr/bin/chromium-headless-shell';

export const browserFile =
  process.env['PORTOLAN_CHROMIUM'] || (existsSync(headlessFile) ? headlessFile : windowedFile);

/** Why browser tests cannot run here, with the remedy; null when they can. */
export function browserObstacle(): string | null {
  try {
    accessSync(browserFile, constants.X_OK);
    return null;
  } catch {
    return `no browser at ${browserFile}. Install it with: npm run setup:test`;
  }
}
