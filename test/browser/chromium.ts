import { accessSync, constants } from 'node:fs';

/** Debian's Chromium, as test/setup.sh installs it; PORTOLAN_CHROMIUM names another one. */
export const browserFile = process.env['PORTOLAN_CHROMIUM'] || '/usr/bin/chromium';

/** Why browser tests cannot run here, with the remedy; null when they can. */
export function browserObstacle(): string | null {
  try {
    accessSync(browserFile, constants.X_OK);
    return null;
  } catch {
    return `no browser at ${browserFile}. Install it with: npm run setup:test`;
  }
}
