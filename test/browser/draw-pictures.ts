/**
 * Draws the pictures of docs/reports.md from a made-up scan: `npm run docs:pictures`. Needs what the browser tests need,
 * and ImageMagick's `convert`.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';
import { syntheticPresets } from '../../src/report/fixtures/synthetic-scan.ts';
import { renderHtml } from '../../src/report/html/render-html.ts';
import { renderPdf } from '../../src/report/pdf/render-pdf.ts';
import { reportOptions } from '../report-of-rows.ts';
import { browserFile } from './chromium.ts';

const pictures = fileURLToPath(new URL('../../docs/pictures/', import.meta.url));
/** Pages of the PDF by the name of their picture. */
const pages = { 'report-cover': 1, 'report-fix-list': 4 };
const folder = mkdtempSync(join(tmpdir(), 'portolan-pictures-'));

try {
  const { facts, rows } = syntheticPresets.office();
  const source = { facts, options: reportOptions, rows };
  const page = join(folder, 'report.html');
  writeFileSync(page, (await Array.fromAsync(renderHtml(source))).join(''));
  const pdf = join(folder, 'report.pdf');
  writeFileSync(pdf, Buffer.concat(await Array.fromAsync(renderPdf(source))));
  await photograph(page);
  for (const [name, number] of Object.entries(pages)) {
    const at = String(number);
    execFileSync('pdftoppm', [
      '-png',
      '-r',
      '80',
      '-f',
      at,
      '-l',
      at,
      '-singlefile',
      pdf,
      join(folder, name),
    ]);
  }
  for (const name of [...Object.keys(pages), 'report-light', 'report-dark']) {
    const drawn = join(folder, `${name}.png`);
    execFileSync('convert', [drawn, '-strip', '-colors', '96', join(pictures, `${name}.png`)]);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function photograph(file: string): Promise<void> {
  const browser = await chromium.launch({
    executablePath: browserFile,
    args: ['--no-sandbox', '--disable-gpu'],
  });
  for (const colorScheme of ['light', 'dark'] as const) {
    const page = await browser.newPage({ colorScheme, viewport: { width: 1280, height: 1100 } });
    await page.goto(pathToFileURL(file).href);
    await page.screenshot({ path: join(folder, `report-${colorScheme}.png`) });
  }
  await browser.close();
}
