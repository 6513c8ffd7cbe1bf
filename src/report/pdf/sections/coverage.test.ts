import { describe, expect, it } from 'vitest';
import { syntheticPresets, syntheticScan } from '../../fixtures/synthetic-scan.ts';
import { drawnSection } from '../fixtures/drawn-section.ts';
import type { RecordingSheet } from '../fixtures/recording-sheet.ts';
import { drawCoverage } from './coverage.ts';

function cellsOf(sheet: RecordingSheet) {
  return sheet.texts.filter(({ tags }) => tags.includes('TD')).map(({ text }) => text);
}

function textOf(sheet: RecordingSheet) {
  return sheet.texts
    .filter(({ tags }) => !tags.includes('Artifact'))
    .map(({ text }) => text)
    .join(' ');
}

/** The numbers behind a label. */
function numbersOf(sheet: RecordingSheet, label: string, count: number) {
  const cells = cellsOf(sheet);
  const at = cells.indexOf(label);
  return cells.slice(at + 1, at + 1 + count).map((text) => Number(text.replaceAll(',', '')));
}

describe('coverage of a report', () => {
  it('has addresses and ports that add up to what was asked for and planned', async () => {
    const { sheet } = await drawnSection(drawCoverage, syntheticPresets.office());
    const addresses = ['Answered', 'Did not answer', 'Excluded'].map(
      (label) => numbersOf(sheet, label, 1)[0] ?? 0,
    );
    expect(addresses.reduce((sum, count) => sum + count)).toBe(254);
    expect(numbersOf(sheet, 'Asked for', 1)).toEqual([254]);
    const states = ['Open', 'Closed', 'Filtered or no answer', 'Not tried'].map((label) =>
      numbersOf(sheet, label, 3),
    );
    const sums = [0, 1, 2].map((column) => states.reduce((sum, line) => sum + (line[column] ?? 0), 0));
    expect(sums).toEqual(numbersOf(sheet, 'Planned', 3));
    expect(sums[2]).toBeGreaterThan(30_000);
  });

  it('draws the addresses as one bar that is read as its numbers', async () => {
    const { sheet } = await drawnSection(drawCoverage, syntheticPresets.office());
    const legend = sheet.texts.filter(({ tags }) => tags.includes('Figure')).map(({ text }) => text);
    expect(legend).toEqual(['38 answered', '212 did not answer', '4 excluded']);
  });

  it('opens with the banner of a partial scan, and names modules that did not reach their end', async () => {
    const { sheet, report } = await drawnSection(drawCoverage, syntheticPresets.canceled());
    const text = textOf(sheet);
    expect(text).toContain('Partial results.');
    const strong = sheet.texts.find(({ text }) => text === 'Not tried');
    expect(strong?.style.face).toBe('semibold');
    const unfinished = report.methodology.modules.filter(({ status }) => status === 'failed');
    expect(unfinished.length).toBeGreaterThan(0);
    for (const { module_type } of unfinished) expect(cellsOf(sheet)).toContain(module_type);
  });

  it('has no banner and no parts without content where everything reached its end', async () => {
    const { sheet } = await drawnSection(drawCoverage, syntheticPresets.one());
    const text = textOf(sheet);
    for (const part of ['Partial', 'Errors', 'did not reach', 'Warnings']) expect(text).not.toContain(part);
  });

  it('shows warnings, errors and services that were not read to their end, and how many more there are', async () => {
    const { sheet } = await drawnSection(drawCoverage, syntheticScan({ hosts: 3, errors: 15 }), {
      change: ({ coverage }) => {
        coverage.warnings = [
          { code: 'closed_early', where: '192.0.2.7, banner-grabber', message: 'It closed.' },
        ];
        coverage.warningsLeft = 2;
        coverage.errorsLeft = 400;
        const at = { host: '2001:db8::7', port: 443, protocol: 'tcp' as const };
        coverage.unfinished = [{ ...at, stage: 'TLS', missing: 'Ciphers.' }];
        coverage.unfinishedLeft = 9;
        coverage.allPortsOpen = ['192.0.2.9'];
      },
    });
    const text = textOf(sheet);
    for (const shown of [
      'closed_early',
      '2 more warnings',
      '415 errors',
      '400 more errors',
      '9 more services',
    ]) {
      expect(text).toContain(shown);
    }
    expect(text).toContain('[2001:db8::7]:443/tcp');
    expect(text).toMatch(/192\.0\.2\.9\s+accepts connections on nearly every port/);
  });

  it('does without sums of ports where none were counted', async () => {
    const { sheet } = await drawnSection(drawCoverage, syntheticPresets.one(), {
      change: ({ coverage }) => {
        coverage.ports = null;
      },
    });
    expect(textOf(sheet)).not.toContain('Planned');
  });

  it('shows equal gaps once, with the services that have them', async () => {
    const { sheet } = await drawnSection(drawCoverage, syntheticPresets.one(), {
      change: ({ coverage }) => {
        const gap = (host: number, missing: string) =>
          ({ host: `192.0.2.${host}`, port: 22, protocol: 'tcp', stage: 'banner', missing }) as const;
        coverage.unfinished = [1, 2, 3].map((host) => gap(host, 'Its end.'));
        coverage.unfinished.push(gap(4, 'All.'));
        for (let host = 10; host < 30; host++) coverage.unfinished.push(gap(host, 'All.'));
      },
    });
    const cells = cellsOf(sheet);
    expect(cells.filter((text) => text === 'Its end.')).toHaveLength(1);
    expect(cells.filter((text) => text === 'All.')).toHaveLength(1);
    expect(numbersOf(sheet, 'Its end.', 1)).toEqual([3]);
    expect(numbersOf(sheet, 'All.', 1)).toEqual([21]);
    expect(textOf(sheet)).toContain('192.0.2.3:22/tcp');
    expect(textOf(sheet)).toMatch(/ and 5 more/);
  });

  it('shows the first warnings and errors, and says how many more there are', async () => {
    const { sheet } = await drawnSection(drawCoverage, syntheticScan({ hosts: 1, errors: 70 }));
    expect(cellsOf(sheet).filter((text) => text === 'resolve_failed')).toHaveLength(60);
    expect(textOf(sheet)).toContain('10 more errors');
  });
});
