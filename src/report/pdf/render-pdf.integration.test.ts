import { describe, expect, it } from 'vitest';
import { type SyntheticScan, syntheticPresets, syntheticScan } from '../fixtures/synthetic-scan.ts';
import { buildReport } from '../model/build-report.ts';
import type { ReportChanges } from '../model/changes.ts';
import type { Report } from '../model/report.ts';
import type { Paper, ReportOptions } from '../report-facts.ts';
import type { ReportSource } from '../report-source.ts';
import { summaryTemplate } from '../template/report-template.ts';
import { type ReadPdf, readPdf } from './fixtures/read-pdf.ts';
import { renderPdf } from './render-pdf.ts';

const usual: ReportOptions = { template: null, paper: 'a4', changes: null, madeAt: '2026-11-21T14:31:00Z' };

function sourceOf({ facts, rows }: SyntheticScan, options: Partial<ReportOptions> = {}): ReportSource {
  return { facts, rows, options: { ...usual, ...options } };
}

async function bytesOf(source: ReportSource): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of renderPdf(source)) chunks.push(chunk);
  return Buffer.concat(chunks);
}

interface Drawn {
  pdf: ReadPdf;
  report: Report;
  text: string;
}

async function drawn(source: ReportSource): Promise<Drawn> {
  const report = await buildReport(source.facts, source.options, source.rows());
  const pdf = readPdf(await bytesOf(source));
  return { pdf, report, text: pdf.pages.flat().join('\n') };
}

const presets = new Map<string, Promise<Drawn>>();

/** Drawn once for all tests. */
function preset(
  name: 'office' | 'hostile' | 'canceled' | 'fifty' | 'empty',
  paper: Paper = 'a4',
): Promise<Drawn> {
  const key = `${name} ${paper}`;
  const known = presets.get(key) ?? drawn(sourceOf(syntheticPresets[name](), { paper }));
  presets.set(key, known);
  return known;
}

describe('a PDF report', () => {
  it('has the id of every finding and the text of every action, as text that can be searched', async () => {
    const { report, text } = await preset('office');
    expect(report.kinds.length).toBeGreaterThan(10);
    for (const { id } of report.kinds) expect(text).toContain(id);
    for (const { text: action } of report.actions) expect(text.replaceAll('\n', ' ')).toContain(action);
    expect(text).not.toContain('\ufffd');
  });

  it('counts its pages before it draws them, and each knows its number', async () => {
    for (const name of ['office', 'fifty', 'hostile'] as const) {
      const { pdf } = await preset(name);
      const count = pdf.pages.length;
      for (const [index, texts] of pdf.pages.entries()) {
        if (index > 0) expect(texts).toContain(`Page ${index + 1} of ${count}`);
      }
    }
  });

  it('says on which pages its sections and findings stand', async () => {
    const { pdf, report } = await preset('office');
    const contents = (pdf.pages[1] ?? []).filter((text) => text.trim() !== '');
    const page = Number(contents[contents.indexOf('Findings') + 2]);
    expect(pdf.pages[page - 1]).toContain('Findings');
    const row = (pdf.pages[page - 1] ?? []).indexOf(report.kinds[0]?.id as string);
    expect(row).toBeGreaterThan(0);
    for (const target of pdf.targets) expect(pdf.destinations).toContain(target);
  });

  it('is tagged: language, title, structure, and nothing is drawn outside of it', async () => {
    const { pdf } = await preset('office');
    expect(pdf.catalog).toContain('/Lang (en-US)');
    expect(pdf.catalog).toContain('/StructTreeRoot');
    expect([...pdf.objects.values()].some(({ head }) => head.includes('/DisplayDocTitle true'))).toBe(true);
    for (const tag of [
      'Document',
      'Sect',
      'H1',
      'H2',
      'H3',
      'Table',
      'THead',
      'TR',
      'TH',
      'TD',
      'TOC',
      'TOCI',
      'L',
      'LI',
      'P',
      'Code',
      'Link',
      'Figure',
    ]) {
      expect([tag, pdf.tags.get(tag) ?? 0]).not.toEqual([tag, 0]);
    }
    for (const content of pdf.contents) {
      let depth = 0;
      for (const line of content.split('\n')) {
        if (/B[MD]C$/.test(line)) depth += 1;
        else if (line === 'EMC') depth -= 1;
        else if (/\b(?:TJ|f|S|B)\b/.test(line)) expect([depth > 0, line]).toEqual([true, line]);
      }
      expect(depth).toBe(0);
    }
  });

  it('has a bookmark for each section, and for each finding below', async () => {
    const { pdf, report } = await preset('office');
    const [kind] = report.kinds;
    expect(pdf.bookmarks).toEqual(expect.arrayContaining(['Contents', 'Summary', 'Fix list', 'Findings']));
    expect(pdf.bookmarks).toContain(`${kind?.severity} ${kind?.id}, 1 host`);
  });

  it('is the same for the same scan, byte by byte', async () => {
    const [first, second] = [sourceOf(syntheticPresets.fifty()), sourceOf(syntheticPresets.fifty())];
    expect(Buffer.compare(await bytesOf(first), await bytesOf(second))).toBe(0);
  });

  it('shows the text of targets, and never obeys it', async () => {
    const { pdf, text } = await preset('hostile');
    expect(text).toContain('\\x1b');
    expect(text).toContain('\\u{202e}');
    // biome-ignore lint: control and direction characters are what is looked for
    expect(text).not.toMatch(
      /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069\u0590-\u06ff]/u,
    );
    for (const url of pdf.urls) expect(url).toMatch(/^https:\/\/[\x21-\x7e]+$/);
    expect(
      [...pdf.objects.values()].some(({ head }) => /\/(?:JavaScript|JS|Launch|EmbeddedFile)\b/.test(head)),
    ).toBe(false);
  });

  it('escapes its title in the metadata', async () => {
    const scan = syntheticScan({ hosts: 1, findings: 1, title: '</rdf:li> & <b>' });
    const { pdf } = await drawn(sourceOf(scan));
    expect(pdf.metadata).toContain('&lt;/rdf:li&gt; &amp; &lt;b&gt;');
    expect(pdf.metadata).not.toContain('<b>');
    expect(pdf.metadata).toContain('<pdfuaid:part>1</pdfuaid:part>');
  });

  it('says so on cover, summary and every head if results are partial', async () => {
    const { pdf, report } = await preset('canceled');
    const banner = report.partial?.slice(0, 40) as string;
    expect(pdf.pages[0]?.join(' ')).toContain(banner);
    expect(pdf.pages[1]?.join(' ')).toContain(banner);
    for (const texts of pdf.pages.slice(1)) expect(texts.join(' ')).toContain('Canceled, partial');
  });

  it('has its summary on one page, on both papers', async () => {
    for (const paper of ['a4', 'letter'] as const) {
      for (const scan of [
        syntheticPresets.office(),
        syntheticPresets.canceled(),
        syntheticPresets.hostile(),
      ]) {
        const { pdf } = await drawn(sourceOf(scan, { paper }));
        expect(pdf.pages.filter((texts) => texts[0] === 'Summary')).toHaveLength(1);
      }
    }
  });

  it('has two pages for who decides: verdict, five actions, what changed, coverage', async () => {
    const changes: ReportChanges = {
      against: '20261120-120000-abcdef',
      at: '2026-11-20T12:00:00.000Z',
      new: 40,
      fixed: 2,
      unchanged: 5,
      unseen: 0,
      balance: { critical: 1, high: 0, medium: 37, low: 0, info: 0 },
      hostsAdded: 0,
      hostsRemoved: 0,
      items: Array.from({ length: 40 }, (_, index) => ({
        sign: 'new',
        severity: 'medium',
        id: `change-${index}`,
        title: 'Something new',
        product: null,
        host: '192.0.2.7',
        port: 443,
        protocol: 'tcp',
        why: 'service appeared since',
      })),
      itemsLeft: 0,
      notComparable: ['a', 'b', 'c'].map((reason) => ({ reason, count: 3, example: '192.0.2.9' })),
    };
    for (const paper of ['a4', 'letter'] as const)
      for (const name of ['office', 'canceled', 'hostile', 'empty', 'fifty'] as const)
        for (const compared of [null, changes]) {
          const options = { paper, template: summaryTemplate, changes: compared };
          const { pdf, report } = await drawn(sourceOf(syntheticPresets[name](), options));
          expect([name, paper, pdf.pages.length]).toEqual([name, paper, 2]);
          const [cover, page] = pdf.pages.map((texts) => texts.join(' '));
          expect(cover).toContain(report.verdict.split(' ').slice(0, 3).join(' '));
          expect(page).toContain('What changed');
          expect(page).toContain('Coverage');
          if (report.actions.length > 0) expect(page).toContain('What first');
        }
  });

  it('of some twenty hosts with some fifty findings has at most 15 pages', async () => {
    for (const [name, hosts, findings] of [
      ['fifty', 24, 50],
      ['canceled', 21, 40],
    ] as const) {
      const { pdf, report } = await preset(name);
      expect([report.hosts.all, report.summary.findings]).toEqual([hosts, findings]);
      expect(pdf.pages.length).toBeLessThanOrEqual(15);
    }
  });

  it('leaves out fix list and findings where there is nothing', async () => {
    const { pdf, text } = await preset('empty');
    expect(pdf.bookmarks).not.toContain('Findings');
    expect(pdf.pages[1]).not.toContain('Fix list');
    expect(text).toContain('What this does not cover');
  });

  it('shows the texts, the mark and the color of a template', async () => {
    const template = {
      name: 'office',
      title: 'For the board',
      mark: 'Strictly confidential',
      blocks: {
        cover: 'Prepared by the network team.',
        summary: 'Ask Ada.',
        fixes: 'Tickets are open.',
        footer: 'Internal',
      },
      logo: {
        kind: 'vector' as const,
        x: 0,
        y: 0,
        width: 40,
        height: 10,
        shapes: [
          {
            path: 'M0 0 L40 0 L40 10 Z',
            transform: null,
            fill: '#ff0000',
            stroke: null,
            strokeWidth: 1,
            evenOdd: false,
            opacity: 0.5,
          },
        ],
      },
      accent: '#123456',
    };
    const { pdf, text } = await drawn(sourceOf(syntheticPresets.office(), { template }));
    for (const part of [
      'For the board',
      'Strictly confidential',
      'Prepared by the network team.',
      'Ask Ada.',
      'Tickets are open.',
      'Internal',
    ]) {
      expect(text).toContain(part);
    }
    expect(pdf.pages[0]).not.toContain('Portolan');
    expect(pdf.contents[0]).toContain('1 0 0 rg');
    expect(pdf.contents[1]).toContain('0.071 0.204 0.337 rg');
  });

  it('goes on to a second page where the texts of the cover are long, and keeps date and state in the heads', async () => {
    const cover = Array.from({ length: 20 }, (_, index) => `Sentence ${index} of the operator.`).join('\n');
    const title = 'A title of many words that nobody can read at once '.repeat(4);
    const template = { name: 'long', title, mark: null, blocks: { cover }, logo: null, accent: null };
    const { pdf } = await drawn(sourceOf(syntheticPresets.canceled(), { template }));
    expect(pdf.pages[0]).toContain('Looked at');
    expect(pdf.pages[0]).not.toContain('Sentence 19 of the operator.');
    expect(pdf.pages[1]).toContain('Sentence 19 of the operator.');
    expect(pdf.pages[2]).toContain('Summary');
    expect(pdf.pages[2]?.join(' ')).toMatch(/· Nov 21, 2026 · Canceled, partial/);
  });

  it('ends the reading of rows when its reader leaves', async () => {
    const scan = syntheticPresets.office();
    let open = 0;
    const rows = async function* () {
      open += 1;
      try {
        yield* scan.rows();
      } finally {
        open -= 1;
      }
    };
    for await (const _ of renderPdf({ ...sourceOf(scan), rows })) break;
    expect(open).toBe(0);
  });

  it('hands its pages out as they are finished', async () => {
    const chunks = renderPdf(sourceOf(syntheticPresets.office()));
    const { value } = await chunks.next();
    await chunks.return(undefined);
    const start = Buffer.from(value as Uint8Array).toString('latin1');
    expect(start).toMatch(/^%PDF-1\.7/);
    expect(start).not.toContain('%%EOF');
    expect((start.match(/\/Type \/Page\n/g) ?? []).length).toBeLessThan(3);
  });
});
