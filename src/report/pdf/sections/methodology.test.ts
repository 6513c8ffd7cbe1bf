import { describe, expect, it } from 'vitest';
import { syntheticPresets } from '../../fixtures/synthetic-scan.ts';
import { drawnSection } from '../fixtures/drawn-section.ts';
import type { RecordingSheet } from '../fixtures/recording-sheet.ts';
import { drawMethodology } from './methodology.ts';

function textOf(sheet: RecordingSheet) {
  return sheet.texts
    .filter(({ tags }) => !tags.includes('Artifact'))
    .map(({ text }) => text)
    .join(' ');
}

describe('methodology of a report', () => {
  it('shows all settings and modules', async () => {
    const { sheet, report } = await drawnSection(drawMethodology, syntheticPresets.office());
    const { settings, modules } = report.methodology;
    expect(settings.length).toBeGreaterThan(6);
    expect(modules.length).toBeGreaterThan(10);
    const cells = sheet.texts.filter(({ tags }) => tags.includes('TD')).map(({ text }) => text);
    for (const { label } of settings) expect(cells).toContain(label);
    for (const { module_type } of modules) expect(cells).toContain(module_type);
    expect(textOf(sheet)).toContain('16, no plugins');
  });

  it('shows the SHA-256 of a plugin in one line', async () => {
    const sha256 = 'c0ffee'.repeat(10) + 'beef';
    const { sheet } = await drawnSection(drawMethodology, syntheticPresets.one(), {
      change: ({ methodology }) => {
        methodology.plugins = [{ name: 'asset_owner', version: '1.2.0', kind: 'enricher', sha256 }];
      },
    });
    const drawn = sheet.texts.map(({ text }) => text);
    expect(drawn).toContain(sha256);
    expect(drawn).toContain('1 plugin');
  });

  it('says why a module failed', async () => {
    const { sheet } = await drawnSection(drawMethodology, syntheticPresets.one(), {
      change: ({ methodology }) => {
        const [first] = methodology.modules;
        if (first) Object.assign(first, { status: 'failed', error: 'no route' });
      },
    });
    expect(textOf(sheet)).toContain('failed: no route');
  });

  it('says what the report cannot say, and credits sources of data where it was used', async () => {
    const usual = await drawnSection(drawMethodology, syntheticPresets.one());
    expect(textOf(usual.sheet)).toContain('What this report cannot say');
    expect(textOf(usual.sheet)).not.toContain('NVD');
    const scan = syntheticPresets.one();
    scan.facts.summary.catalogue_version = '2026-11-21+vulndb@2026-11-20';
    const credited = await drawnSection(drawMethodology, scan);
    expect(textOf(credited.sheet)).toContain('uses data from the NVD API but is not endorsed');
    expect(textOf(credited.sheet)).toContain('FIRST');
  });
});
