/**
 * Draws the pictures of the pages in docs/: `npm run docs:pictures`, or some of them: `-- report ui`. Needs what the
 * browser tests need, script(1), and root for listeners below port 1024.
 */
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Browser, chromium } from 'playwright-core';
import { browserFile } from './chromium.ts';
import { drawReport } from './pictures/draw-report.ts';
import { drawTerminal } from './pictures/draw-terminal.ts';
import { drawUi } from './pictures/draw-ui.ts';
import { smallPng } from './pictures/small-png.ts';

const pictures = fileURLToPath(new URL('../../docs/pictures/', import.meta.url));
const kinds: Record<string, (browser: Browser, folder: string) => Promise<string[]>> = {
  report: drawReport,
  ui: drawUi,
  terminal: drawTerminal,
};
const chosen = process.argv.length > 2 ? process.argv.slice(2) : Object.keys(kinds);
const folder = mkdtempSync(join(tmpdir(), 'portolan-pictures-'));
const browser = await chromium.launch({
  executablePath: browserFile,
  args: ['--no-sandbox', '--disable-gpu'],
});

try {
  for (const kind of chosen) {
    const draw = kinds[kind];
    if (!draw) throw new Error(`no kind of picture "${kind}" (${Object.keys(kinds).join(', ')})`);
    for (const name of await draw(browser, folder)) {
      const [drawn, kept] = [join(folder, name), join(pictures, name)];
      if (name.endsWith('.png')) writeFileSync(kept, smallPng(readFileSync(drawn)));
      else copyFileSync(drawn, kept);
    }
  }
} finally {
  await browser.close();
  rmSync(folder, { recursive: true, force: true });
}
