import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { syntheticPresets } from '../../src/report/fixtures/synthetic-scan.ts';
import { run } from '../cli/command.ts';
import { isInstalled } from '../installed.ts';
import { Exports, pdfText, unescapeHtml } from './exports.ts';

/** C0 but for TAB, LF and form feed (pages of pdftotext), DEL, C1, bidi controls, zero width, separators, tags. */
const unseen =
  /[\0-\x08\x0b\x0d-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\u{e0000}-\u{e007f}]/u;
/** However long the texts of targets are, bytes: one of them has a mebibyte, and there are many. */
const largestReport = 3 * 1024 * 1024;

let exports: Exports;
let scanId: string;
beforeAll(async () => {
  exports = await Exports.open();
  scanId = await exports.record(syntheticPresets.hostile());
});
afterAll(() => exports.close());

describe('a hostile scan as HTML', () => {
  let page: string;
  beforeAll(async () => {
    page = (await exports.bodyOf(scanId, 'html')).toString();
  });

  it('is no larger than what it may show', () => expect(page.length).toBeLessThan(largestReport));

  it('has no character that cannot be seen', () => expect(unseen.exec(page)).toBeNull());

  it('has known elements only', () => {
    const elements = new Set(
      [...page.matchAll(/<\/?([a-z][^\s/>]*)/gi)].map(([, name]) => name?.toLowerCase()),
    );
    const dangerous = [
      'script',
      'img',
      'iframe',
      'object',
      'embed',
      'link',
      'base',
      'form',
      'video',
      'audio',
      'image',
    ];
    expect(dangerous.filter((name) => elements.has(name))).toEqual([]);
    // A text that broke out would bring a name of its own.
    expect([...elements].filter((name) => !/^[a-z]+[1-6]?$/i.test(name ?? ''))).toEqual([]);
    expect([...page.matchAll(/<(?![a-z/!])/gi)]).toEqual([]);
    expect([...page.matchAll(/<!(?!doctype html>)/gi)]).toEqual([]);
  });

  it('has no handler, no remote part, and links to itself and to https only', () => {
    const tags = [...page.matchAll(/<[a-z][^>]*>/gi)].map(([tag]) => tag);
    const attributes = tags.flatMap((tag) => [
      ...tag.matchAll(/\s([a-z:-]+)=(?:"([^"]*)"|'([^']*)'|([^\s>]+))/gi),
    ]);
    const named = attributes.map(([, name = '', double, single, bare]) => ({
      name: name.toLowerCase(),
      value: unescapeHtml(double ?? single ?? bare ?? ''),
    }));
    expect(named.length).toBeGreaterThan(100);
    expect(
      named.filter(({ name }) => name.startsWith('on') || ['src', 'srcdoc', 'action'].includes(name)),
    ).toEqual([]);
    // Places in sorted lists.
    const placed = named.filter(({ name }) => name === 'style').map(({ value }) => value);
    expect(placed.filter((value) => !/^(?:--[a-z]:-?\d{1,20};?)+$/.test(value))).toEqual([]);
    const links = named.filter(({ name }) => name.endsWith('href')).map(({ value }) => value);
    expect(links.filter((link) => !/^(?:#|https:\/\/)/.test(link))).toEqual([]);
    const styles = [...page.matchAll(/<style>([^<]*)<\/style>/g)].map(([, style]) => style).join('');
    expect(styles).not.toMatch(/@import|url\(|expression\(/i);
  });

  it('forbids scripts and whatever is remote by its policy', () => {
    const policy = /<meta http-equiv="Content-Security-Policy" content="([^"]*)"/i.exec(page)?.[1] ?? '';
    expect(unescapeHtml(policy)).toContain("default-src 'none'");
    expect(policy).not.toMatch(/script-src|unsafe-eval|https?:|\*/);
  });

  it('shows what the targets said', () => {
    const text = unescapeHtml(page.replace(/<[^>]*>/g, ''));
    for (const said of [
      '<script>alert(1)</script>',
      '\\x1b[31mred',
      'safe\\u{202e}gnp.exe',
      'שלום',
      '漢字',
      '=HYPERLINK(',
    ])
      expect(text).toContain(said);
  });
});

describe('a hostile scan as Markdown', () => {
  let ticket: string;
  /** Without code, in which nothing has a meaning. */
  let prose: string;
  beforeAll(async () => {
    ticket = (await exports.bodyOf(scanId, 'markdown')).toString();
    prose = withoutCode(ticket);
  });

  it('is no larger than a ticket may be', () => expect(ticket.length).toBeLessThan(65_536));

  it('has no character that cannot be seen', () => expect(unseen.exec(ticket)).toBeNull());

  it('calls nobody', () => expect(prose).not.toMatch(/@[a-z]/i));

  it('has no markup of HTML, no image and no link of a target', () => {
    expect(prose).not.toMatch(/<(?!https:\/\/)/);
    expect(prose).not.toMatch(/(?<!\\)\]\(/);
    expect(prose).not.toMatch(/!\[/);
    // Hosting sites make links of bare addresses.
    expect(prose.replace(/<https:\/\/[^>\s]*>/g, '')).not.toMatch(/https?:\/\/|www\./);
  });

  it('has headings of its own only', () => {
    const headings = prose.split('\n').filter((line) => /^ {0,3}(?:#|=+\s*$|-+\s*$)/.test(line));
    expect(headings.filter((line) => !/^#{1,3} [A-Z][\w ,:'.+−-]*$/.test(line))).toEqual([]);
    expect(headings.length).toBeGreaterThan(2);
  });

  it('has tables whose rows are as wide as their heads', () => {
    const lines = prose.split('\n');
    const cells = (line: string) => line.replace(/\\\|/g, '').split('|').length;
    for (const [at, line] of lines.entries()) {
      if (line.startsWith('|') && lines[at - 1]?.startsWith('|'))
        expect(cells(line)).toBe(cells(lines[at - 1] as string));
    }
    expect(lines.filter((line) => line.startsWith('|')).length).toBeGreaterThan(10);
  });
});

/** Spans begin and end with as many backticks (CommonMark 6.1); fences stand on lines of their own. */
function withoutCode(text: string): string {
  return text
    .replace(/^(`{3,})[^`\n]*\n[^]*?^\1`*\s*$/gm, '')
    .replace(/(?<!`)(`+)(?!`)([^]*?[^`])\1(?!`)/g, 'code');
}

const hasPdfTools = isInstalled('pdftotext') && isInstalled('qpdf');

describe.runIf(hasPdfTools)('a hostile scan as PDF', () => {
  let file: string;
  let size = 0;
  beforeAll(async () => {
    file = exports.file('hostile.pdf');
    const body = await exports.bodyOf(scanId, 'pdf');
    size = body.length;
    writeFileSync(file, body);
  });

  it('is no larger than what it may show', () => expect(size).toBeLessThan(largestReport));

  it('is sound, and has nothing that runs, opens, embeds, or leads to anything but https', async () => {
    const { code, stdout } = await run('qpdf', ['--check', file]);
    expect(`${code} ${stdout}`).toMatch(/^0 /);
    const plain = exports.file('hostile-plain.pdf');
    await run('qpdf', ['--qdf', '--object-streams=disable', file, plain]);
    const { bytes } = await run('cat', [plain]);
    // Text of pages could look like a key; it stands in streams.
    const objects = bytes.toString('latin1').replace(/\bstream\r?\n[^]*?\bendstream\b/g, '');
    expect(objects).not.toMatch(
      /\/(?:JavaScript|JS|Launch|OpenAction|AA|EmbeddedFile|GoToR|SubmitForm|RichMedia|XFA)\b/,
    );
    const links = [...objects.matchAll(/\/URI (?:\(((?:\\.|[^\\)])*)\)|<([\da-f]*)>)/g)];
    const uris = links.map(([, text, hex]) => text ?? Buffer.from(hex ?? '', 'hex').toString('latin1'));
    expect(uris.filter((uri) => !uri.startsWith('https://'))).toEqual([]);
  });

  it('shows what the targets said, without a character that cannot be seen', async () => {
    const text = await pdfText(file);
    expect(unseen.exec(text)).toBeNull();
    for (const said of ['<script>alert(1)</script>', '\\x1b[31mred', 'safe\\u{202e}gnp.exe', '=HYPERLINK(']) {
      expect(text.replace(/\s/g, '')).toContain(said.replace(/\s/g, ''));
    }
  });

  it('has no font without a file, so that every glyph is the one that was meant', async () => {
    const { stdout } = await run('pdffonts', [file]);
    const fonts = stdout.trim().split('\n').slice(2);
    expect(fonts.length).toBeGreaterThan(0);
    // emb sub uni
    expect(fonts.filter((line) => !/ yes +yes +yes /.test(line))).toEqual([]);
  });
});

describe('an error while a report is made', () => {
  const formats = ['html', 'pdf', 'markdown'];
  /** Nothing of the machine or of the sources. */
  const inner = /\n\s+at |node:internal|\.ts\b|\/(?:tmp|work|home|root|src|node_modules)\//;

  it.each(formats)('of an unknown template is a plain one, as %s', async (format) => {
    const { status, body } = await exports.export(scanId, format, '&template=..%2F..%2Fetc');
    expect(status).toBe(400);
    expect(JSON.parse(body.toString())).toMatchObject({ error: { code: 'invalid_request' } });
    expect(body.toString()).not.toMatch(inner);
  });

  it.each(formats)('in the renderer shows neither path nor stack, as %s', async (format) => {
    const broken = syntheticPresets.one();
    const id = `20261121-141418-bad${formats.indexOf(format)}00`;
    broken.facts.scan_id = id;
    if (broken.facts.request) broken.facts.request.scan_id = id;
    await exports.record(broken);
    breakRecord(exports.service.workspace.scan(id).path);
    const { status, body } = await exports.export(id, format);
    expect(status).toBe(500);
    expect(JSON.parse(body.toString())).toMatchObject({ error: { code: 'internal_error' } });
    expect(body.toString()).not.toMatch(inner);
  });
});

/** A finding that is none, as nothing of this program writes it; without its index the record is read line by line. */
function breakRecord(folder: string): void {
  const file = join(folder, 'results.jsonl');
  const lines = readFileSync(file, 'utf8').split('\n');
  const text = lines.map((line) =>
    line.startsWith('{"type":"vulnerability"')
      ? JSON.stringify({ ...(JSON.parse(line) as object), vulnerability: null })
      : line,
  );
  writeFileSync(file, text.join('\n'));
  for (const name of ['results.index', 'results.sequence']) rmSync(join(folder, name), { force: true });
}
