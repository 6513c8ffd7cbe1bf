import { writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { classOf, type Finding, findingClasses, noFindings, severities } from '../../src/domain/finding.ts';
import { countsAs } from '../../src/domain/finding-order.ts';
import { reportFormats } from '../../src/report/render-report.ts';
import { run } from '../cli/command.ts';
import { isInstalled } from '../installed.ts';
import { Exports, htmlText, pdfText, randomScan } from './exports.ts';

/** All, certain, likely, possible, exploited. */
type Line = number[];

interface JsonExport {
  summary: { live_hosts: number; open_ports: number; vulnerabilities: number; severity_counts: object };
  results: { ports: { vulnerabilities: Finding[] }[]; vulnerabilities: Finding[] }[];
}

/** What the JSON says, counted from its findings one by one. */
function countedFindings({ results }: JsonExport): {
  lines: Record<string, Line>;
  ids: Set<string>;
  kinds: number;
} {
  const findings = results.flatMap(({ ports, vulnerabilities }) => [
    ...ports.flatMap((port) => port.vulnerabilities),
    ...vulnerabilities,
  ]);
  const lines: Record<string, Line> = {};
  for (const severity of severities)
    lines[severity] = lineOf(findings.filter((one) => countsAs(one) === severity));
  lines['all'] = lineOf(findings);
  const kinds = new Set(findings.map((one) => `${one.id} ${countsAs(one)}`));
  return { lines, ids: new Set(findings.map(({ id }) => id)), kinds: kinds.size };
}

function lineOf(findings: Finding[]): Line {
  const classes = findingClasses.map((name) => findings.filter((one) => classOf(one) === name).length);
  return [findings.length, ...classes, findings.filter(({ kev }) => kev).length];
}

/** The rows of the severity table: the word, perhaps a drawn bar, five numbers. */
function shownLines(text: string): Record<string, Line> {
  const lines: Record<string, Line> = {};
  for (const row of text.split('\n')) {
    const [, word = '', numbers = ''] =
      /^\W{0,20}(Critical|High|Medium|Low|Info|All)\b([\s|*:\d,-]*)$/.exec(row) ?? [];
    const found = numbers.match(/\d[\d,]*/g)?.map((number) => Number(number.replaceAll(',', ''))) ?? [];
    if (found.length === 5) lines[word.toLowerCase()] ??= found;
  }
  return lines;
}

const hasPdfTools = isInstalled('pdftotext') && isInstalled('pdfinfo') && isInstalled('qpdf');

/** Every report of a scan, made by its seed, has the counts of its JSON. */
export function testCounts(seeds: readonly number[]): void {
  let exports: Exports;
  beforeAll(async () => {
    exports = await Exports.open();
  });
  afterAll(() => exports.close());

  describe.each(seeds)('scan %i', (seed) => {
    let json: JsonExport;
    let scanId: string;

    beforeAll(async () => {
      scanId = await exports.record(randomScan(seed));
      ({ data: json } = JSON.parse((await exports.bodyOf(scanId, 'json')).toString()) as {
        data: JsonExport;
      });
    });

    const formats = (reportFormats as readonly string[]).filter((format) => format !== 'pdf' || hasPdfTools);
    it.each(formats)('has the counts of its JSON as %s', async (format) => {
      const { lines, ids, kinds } = countedFindings(json);
      const body = await exports.bodyOf(scanId, format);
      const text = await textOf(format, body, exports.file(`${seed}.pdf`));
      const { vulnerabilities, severity_counts, live_hosts } = json.summary;
      expect(lines['all']?.[0]).toBe(vulnerabilities);
      expect({ ...noFindings(), ...severity_counts }).toEqual(
        Object.fromEntries(severities.map((severity) => [severity, lines[severity]?.[0]])),
      );
      // Without findings there is no table of them.
      if (vulnerabilities > 0) expect(shownLines(text)).toEqual(lines);
      else
        expect(
          Object.values(shownLines(text))
            .flat()
            .every((number) => number === 0),
        ).toBe(true);
      if (format !== 'markdown') for (const id of ids) expect(text).toContain(id);
      if (format === 'pdf') await expectSoundPdf(exports.file(`${seed}.pdf`));
      if (format !== 'html') return;
      const page = body.toString();
      expect([...page.matchAll(/ id="f-[^"]+"/g)]).toHaveLength(kinds);
      expect(hostAnchors(page).size).toBe(live_hosts);
    });
  });
}

/** Tagged for screen readers, and without an error that other programs find. */
async function expectSoundPdf(file: string): Promise<void> {
  const { stdout: info } = await run('pdfinfo', [file]);
  expect(info).toMatch(/^Tagged: +yes$/m);
  expect(info).toMatch(/^JavaScript: +no$/m);
  const { code, stdout: checked } = await run('qpdf', ['--check', file]);
  expect(`${code} ${checked}`).toMatch(/^0 [^]*No syntax or stream encoding errors found/);
}

/** Of hosts, not of their ports. */
function hostAnchors(page: string): Set<string> {
  const anchors = [...page.matchAll(/ id="(h-[^"]+)"/g)].map(([, anchor]) => anchor as string);
  return new Set(anchors.filter((anchor) => !/-(?:tcp|udp)$/.test(anchor)));
}

async function textOf(format: string, body: Buffer, file: string): Promise<string> {
  if (format === 'html') return htmlText(body.toString());
  if (format !== 'pdf') return body.toString();
  writeFileSync(file, body);
  return await pdfText(file, '-layout');
}
