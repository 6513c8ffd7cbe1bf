import { describe, expect, it } from 'vitest';
import { syntheticPresets, syntheticScan } from '../../fixtures/synthetic-scan.ts';
import { hostBlocks } from '../../model/host-blocks.ts';
import type { HostBlock } from '../../model/report.ts';
import { drawnSection } from '../fixtures/drawn-section.ts';
import type { RecordingSheet } from '../fixtures/recording-sheet.ts';
import { paperGeometry } from '../paper.ts';
import { drawHosts } from './hosts.ts';

async function blocksOf(
  drawn: Awaited<ReturnType<typeof drawnSection>>,
  scan: ReturnType<typeof syntheticScan>,
) {
  const blocks: HostBlock[] = [];
  for await (const block of hostBlocks(drawn.report, scan.rows())) blocks.push(block);
  return blocks;
}

function textsIn(sheet: RecordingSheet, tag: string) {
  return sheet.texts.filter(({ tags }) => tags.includes(tag)).map(({ text }) => text);
}

/** Addresses in cells of tables, as drawn; an address that takes two lines is joined. */
function addressesOf(sheet: RecordingSheet, host: (text: string) => boolean) {
  return textsIn(sheet, 'TD').filter(host);
}

const isAddress = (text: string) => /^10\.20\.\d+\.\d+$/.test(text);

describe('hosts of a report', () => {
  it('are listed once each, in address order, behind the worst six', async () => {
    const scan = syntheticScan({ hosts: 30, findings: 60 });
    const drawn = await drawnSection(drawHosts, scan);
    const blocks = await blocksOf(drawn, scan);
    const worst = drawn.report.hosts.worst.map(({ host }) => host);
    expect(worst).toHaveLength(6);
    const all = blocks.map(({ host }) => host);
    expect(addressesOf(drawn.sheet, isAddress)).toEqual([...worst, ...all]);
  });

  it('have a block each if they have findings, with a bookmark and a place that the list leads to', async () => {
    const scan = syntheticScan({ hosts: 30, findings: 40 });
    const drawn = await drawnSection(drawHosts, scan);
    const blocks = await blocksOf(drawn, scan);
    const found = blocks.filter(({ findings }) => findings.length > 0);
    expect(found.length).toBeGreaterThan(5);
    expect(found.length).toBeLessThan(30);
    expect(textsIn(drawn.sheet, 'H3').filter(isAddress)).toEqual(found.map(({ host }) => host));
    expect(drawn.sheet.bookmarks.filter(({ level }) => level === 1)).toHaveLength(found.length);
    for (const { anchor } of found) {
      expect(drawn.sheet.anchors).toContain(anchor);
      expect(drawn.sheet.links).toContainEqual({ anchor });
    }
    const others = blocks.filter(({ findings }) => findings.length === 0);
    for (const { anchor } of others) expect(drawn.sheet.links).not.toContainEqual({ anchor });
  });

  it('show every port and every finding of a host', async () => {
    const scan = syntheticPresets.office();
    const drawn = await drawnSection(drawHosts, scan);
    const ports = textsIn(drawn.sheet, 'Lbl');
    const ids = textsIn(drawn.sheet, 'LBody').join(' ');
    for (const block of await blocksOf(drawn, scan)) {
      if (block.findings.length === 0) continue;
      for (const { port, protocol } of block.ports) expect(ports).toContain(`${port}/${protocol}`);
      for (const { kind } of block.findings) expect(ids).toContain(kind.id);
    }
  });

  it('are cut in their blocks where paper has no room, with the number of what is left out', async () => {
    const scan = syntheticScan({ hosts: 1, servicesPerHost: 100, findings: 300, kinds: 200 });
    const drawn = await drawnSection(drawHosts, scan);
    const [block] = await blocksOf(drawn, scan);
    const headings = textsIn(drawn.sheet, 'P');
    expect(headings).toContain('60 of 100');
    expect(headings).toContain(`60 of ${block?.findings.length}, worst first`);
    expect(headings.join(' ')).toContain('40 more services');
    const worst = block?.findings.filter(({ kind }) => kind.severity === 'critical') ?? [];
    expect(worst.length).toBeGreaterThan(3);
    const ids = textsIn(drawn.sheet, 'LBody').join(' ');
    for (const { kind } of worst) expect(ids).toContain(kind.id);
    expect(headings.join(' ')).toContain(`${(block?.findings.length ?? 0) - 60} more lines of findings`);
  });

  it('are listed only above 200, with a bookmark for each network', async () => {
    const scan = syntheticScan({ hosts: 201, findings: 400, networks: 3 });
    const drawn = await drawnSection(drawHosts, scan);
    const blocks = await blocksOf(drawn, scan);
    expect(textsIn(drawn.sheet, 'H3')).toEqual([]);
    const rows = addressesOf(drawn.sheet, isAddress);
    expect(rows.slice(6)).toEqual(blocks.map(({ host }) => host));
    const titles = drawn.sheet.bookmarks.filter(({ level }) => level === 1).map(({ title }) => title);
    expect(titles).toHaveLength(3);
    expect(new Set(titles)).toEqual(new Set(drawn.report.hosts.networks.map(({ network }) => network)));
  });

  it('stand on as many pages as the first pass counted, on both papers', async () => {
    for (const paper of ['a4', 'letter'] as const) {
      const drawn = await drawnSection(drawHosts, syntheticPresets.longNames(), { paper });
      expect(drawn.sheet.page).toBe(drawn.measuredPages);
      expect(drawn.sheet.page).toBeGreaterThan(4);
    }
  });

  it('stay within the body of their pages, and fill a quarter of each but the last', async () => {
    const { top, bottom } = paperGeometry.a4;
    const dense = syntheticScan({ hosts: 5, servicesPerHost: 100, findings: 1500, kinds: 200 });
    const { office, longNames, hostile } = syntheticPresets;
    for (const scan of [office(), longNames(), hostile(), dense]) {
      const { sheet } = await drawnSection(drawHosts, scan);
      const bodies = new Map<number, number>();
      for (const { page, baseline, tags } of sheet.texts) {
        if (tags.includes('Artifact')) continue;
        expect(baseline).toBeLessThan(bottom);
        bodies.set(page, Math.max(bodies.get(page) ?? 0, baseline));
      }
      for (let page = 1; page < sheet.page; page++) {
        expect(bodies.get(page) ?? 0).toBeGreaterThan(top + (bottom - top) / 4);
      }
    }
  });

  it('open the pages of a long block with its address', async () => {
    const scan = syntheticScan({ hosts: 1, servicesPerHost: 80, findings: 120, kinds: 100 });
    const { sheet } = await drawnSection(drawHosts, scan);
    const continued = sheet.texts.filter(({ text }) => text === ', continued').map(({ page }) => page);
    expect(continued.length).toBeGreaterThan(1);
    expect(continued.at(-1)).toBe(sheet.page);
  });

  it('say so far in a report that is partial', async () => {
    const { sheet } = await drawnSection(drawHosts, syntheticPresets.canceled());
    const notes = textsIn(sheet, 'P').join(' ');
    expect(notes).toContain('in address order, so far');
  });
});
