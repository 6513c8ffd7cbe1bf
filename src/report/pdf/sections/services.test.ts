import { describe, expect, it } from 'vitest';
import { syntheticPresets, syntheticScan } from '../../fixtures/synthetic-scan.ts';
import { drawnSection } from '../fixtures/drawn-section.ts';
import type { RecordingSheet } from '../fixtures/recording-sheet.ts';
import { drawServices } from './services.ts';

/** Texts of the content of cells, and all texts joined. */
function cellsOf(sheet: RecordingSheet) {
  return sheet.texts.filter(({ tags }) => tags.includes('TD')).map(({ text }) => text);
}

function textOf(sheet: RecordingSheet) {
  return sheet.texts
    .filter(({ tags }) => !tags.includes('Artifact'))
    .map(({ text }) => text)
    .join(' ');
}

describe('services and products of a report', () => {
  it('have lines of open ports that add up to the sum below them', async () => {
    const { sheet, report } = await drawnSection(drawServices, syntheticPresets.office());
    const cells = cellsOf(sheet);
    const end = cells.indexOf('All open ports');
    const counts = cells.slice(0, end).filter((text) => /^[\d,]+$/.test(text));
    const sum = counts.reduce((all, text) => all + Number(text.replace(',', '')), 0);
    expect(sum).toBe(report.services.openPorts);
    expect(cells[end + 1]).toBe(String(report.services.openPorts));
    expect(counts.length).toBeGreaterThan(5);
  });

  it('name products with their versions, and say how many more there are', async () => {
    const { sheet } = await drawnSection(drawServices, syntheticPresets.office(), {
      change: ({ services }) => {
        services.products = services.products.slice(0, 2);
        services.productsLeft = 31;
        const [first] = services.products;
        if (!first) throw new Error('no product');
        first.versions = [
          { version: '1.2', ports: 3 },
          { version: null, ports: 1 },
        ];
        first.versionsLeft = 4;
      },
    });
    const text = textOf(sheet);
    expect(text).toContain('the first 2 of 33 products');
    expect(text).toContain('1.2 on 3, not shown on 1 and 4 more');
    expect(text).toContain('31 more products');
  });

  it('show certificates by the days that are left, marked below 14', async () => {
    const certificate = { subject: 'CN=a', issuer: 'CN=b', host: '192.0.2.1', port: 443, more: 0 };
    const { sheet } = await drawnSection(drawServices, syntheticPresets.one(), {
      change: (report) => {
        report.certificates = {
          read: 9,
          expired: 1,
          within14Days: 2,
          within90Days: 1,
          expiringLeft: 5,
          expiring: [
            { ...certificate, until: '2026-10-30T00:00:00.000Z', days: -22 },
            { ...certificate, until: '2026-11-21T18:00:00.000Z', days: 0 },
            { ...certificate, until: '2026-11-22T18:00:00.000Z', days: 1 },
            { ...certificate, until: '2026-12-05T18:00:00.000Z', days: 14, more: 2 },
          ],
        };
      },
    });
    const text = textOf(sheet);
    for (const distance of ['expired 22 days ago', 'within a day', 'in 1 day', 'in 14 days']) {
      expect(text).toContain(distance);
    }
    const colorOf = (shown: string) => sheet.texts.find((drawn) => drawn.text === shown)?.style.color;
    expect(colorOf('in 1 day')).toBe(colorOf('expired 22 days ago'));
    expect(colorOf('in 14 days')).not.toBe(colorOf('in 1 day'));
    expect(text).toMatch(/192\.0\.2\.1:443 +and 2 more/);
    expect(text).toContain('5 more certificates');
  });

  it('show controls with their hosts, and say that the numbers add up only where they do', async () => {
    const { sheet, report, places } = await drawnSection(drawServices, syntheticPresets.office());
    expect(report.compliance).toHaveLength(1);
    const text = textOf(sheet);
    expect(text).toContain('Compliance: cis');
    expect(text).toContain('add up to 38 in each row');
    for (const { control, title } of report.compliance[0]?.controls ?? []) {
      expect(cellsOf(sheet)).toContain(control);
      expect(text).toContain(title.split(' ')[0]);
    }
    expect(places.has('section-compliance')).toBe(true);
    const other = await drawnSection(drawServices, syntheticPresets.office(), {
      change: ({ compliance }) => {
        const control = compliance[0]?.controls[0];
        if (control) control.pass += 1;
      },
    });
    expect(textOf(other.sheet)).not.toContain('add up to');
  });

  it('say how many hosts fail a control beyond those that are named', async () => {
    const { sheet } = await drawnSection(drawServices, syntheticPresets.office(), {
      change: ({ compliance }) => {
        const control = compliance[0]?.controls[0];
        if (!control) throw new Error('no control');
        control.fail = 20;
        control.failed = [1, 2, 3, 4, 5, 6].map((end) => ({ host: `192.0.2.${end}`, port: null, text: '' }));
      },
    });
    const text = textOf(sheet);
    expect(text).toContain('192.0.2.4');
    expect(text).not.toContain('192.0.2.5');
    expect(text).toContain('and 16 more hosts');
  });

  it('show values of plugins, limited to a hundred', async () => {
    const scan = syntheticScan({ hosts: 2, extras: 130 });
    const { sheet } = await drawnSection(drawServices, scan);
    const keys = cellsOf(sheet).filter((text) => text === 'asset_owners');
    expect(keys).toHaveLength(100);
    expect(textOf(sheet)).toContain('30 more values');
  });

  it('are left out where there is nothing to show', async () => {
    const { sheet } = await drawnSection(drawServices, syntheticScan({ hosts: 0, findings: 0 }));
    expect(sheet.page).toBe(0);
  });
});
