import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { syntheticPresets } from '../../src/report/fixtures/synthetic-scan.ts';
import { buildReport } from '../../src/report/model/build-report.ts';
import { renderPdf } from '../../src/report/pdf/render-pdf.ts';
import type { ReportOptions } from '../../src/report/report-facts.ts';
import { isInstalled } from '../installed.ts';

const areInstalled = ['pdfinfo', 'pdftotext', 'qpdf'].map(isInstalled).every(Boolean);

/** Output larger than usual: the text of some hundred pages. */
const maxBuffer = 64 * 1024 * 1024;

function output(program: string, ...args: string[]): string {
  return execFileSync(program, args, { encoding: 'utf8', maxBuffer });
}

describe.runIf(areInstalled)('the PDF report in other programs', () => {
  const folder = mkdtempSync(join(tmpdir(), 'portolan-pdf-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  async function draw(name: keyof typeof syntheticPresets, paper: ReportOptions['paper']) {
    const { facts, rows } = syntheticPresets[name]();
    const options: ReportOptions = { template: null, paper, changes: null, madeAt: '2026-11-21T14:31:00Z' };
    const path = join(folder, `${name}-${paper}.pdf`);
    const file = await open(path, 'w');
    for await (const chunk of renderPdf({ facts, options, rows })) await file.write(chunk);
    await file.close();
    return { path, report: await buildReport(facts, options, rows()) };
  }

  for (const name of ['empty', 'one', 'office', 'canceled', 'hostile', 'longNames', 'thousand'] as const) {
    it(`of the scan "${name}" is a sound, tagged file with every finding in its text`, async () => {
      const { path, report } = await draw(name, name === 'longNames' ? 'letter' : 'a4');
      const info = output('pdfinfo', path);
      expect(info).toMatch(/^Tagged: +yes$/m);
      expect(info).toMatch(/^JavaScript: +no$/m);
      expect(info).toMatch(
        name === 'longNames' ? /^Page size: +612 x 792/m : /^Page size: +595\.28 x 841\.89/m,
      );
      expect(output('qpdf', '--check', path)).toContain('No syntax or stream encoding errors found');
      const text = output('pdftotext', '-layout', path, '-');
      const pages = Number(/^Pages: +(\d+)$/m.exec(info)?.[1]);
      expect(text).toContain(`Page ${pages} of ${pages}`);
      // Hostile IDs are longer than a line.
      const ids = report.kinds.map(({ id }) => id).filter((id) => /^[\w.-]{1,50}$/.test(id));
      expect(ids.filter((id) => !text.includes(id))).toEqual([]);
    });
  }
});
