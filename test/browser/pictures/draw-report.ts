import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Browser } from 'playwright-core';
import { syntheticPresets } from '../../../src/report/fixtures/synthetic-scan.ts';
import { renderHtml } from '../../../src/report/html/render-html.ts';
import { renderPdf } from '../../../src/report/pdf/render-pdf.ts';
import { reportOptions } from '../../report-of-rows.ts';

/** Pages of the PDF by the name of their picture. */
const pages = { 'report-cover': 1, 'report-fix-list': 4 };

/** The pictures of docs/reports.md, from a made-up scan. @returns names of the PNG files in `folder` */
export async function drawReport(browser: Browser, folder: string): Promise<string[]> {
  const { facts, rows } = syntheticPresets.office();
  const source = { facts, options: reportOptions, rows };
  const html = join(folder, 'report.html');
  writeFileSync(html, (await Array.fromAsync(renderHtml(source))).join(''));
  const pdf = join(folder, 'report.pdf');
  writeFileSync(pdf, Buffer.concat(await Array.fromAsync(renderPdf(source))));
  for (const [name, number] of Object.entries(pages)) {
    const range = ['-f', String(number), '-l', String(number), '-singlefile'];
    execFileSync('pdftoppm', ['-png', '-r', '80', ...range, pdf, join(folder, name)]);
  }
  for (const colorScheme of ['light', 'dark'] as const) {
    const page = await browser.newPage({ colorScheme, viewport: { width: 1280, height: 1100 } });
    await page.goto(pathToFileURL(html).href);
    await page.screenshot({ path: join(folder, `report-${colorScheme}.png`) });
    await page.close();
  }
  return [...Object.keys(pages), 'report-light', 'report-dark'].map((name) => `${name}.png`);
}
