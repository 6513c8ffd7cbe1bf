import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { crc32, deflateSync } from 'node:zlib';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { PortolanError } from '../../domain/errors.ts';
import { readTemplate } from './read-template.ts';

let folder: string;

beforeEach(() => {
  const workspace = mkdtempSync(join(tmpdir(), 'portolan-template-'));
  folder = join(workspace, 'config', 'templates');
  mkdirSync(folder, { recursive: true });
  onTestFinished(() => rmSync(workspace, { recursive: true, force: true }));
});

/** A template with these files. */
function write(files: Record<string, string | Buffer>, name = 'acme'): void {
  for (const [file, content] of Object.entries(files)) {
    const path = join(folder, name, file);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
  }
}

/** The message of the rejection, which names the code that the API sends. */
async function rejected(name = 'acme'): Promise<string> {
  const error = await readTemplate(folder, name).then(
    () => null,
    (reason: unknown) => reason,
  );
  if (!(error instanceof PortolanError)) throw new Error(`not rejected as it should: ${error}`);
  expect(error.code).toBe('invalid_request');
  expect(JSON.stringify([error.message, error.details])).not.toContain(folder);
  return error.message;
}

function chunk(type: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const frame = Buffer.alloc(8);
  frame.writeUInt32BE(data.length, 0);
  frame.writeUInt32BE(crc32(named), 4);
  return Buffer.concat([frame.subarray(0, 4), named, frame.subarray(4)]);
}

interface Picture {
  width?: number;
  height?: number;
  depth?: number;
  color?: number;
  interlace?: number;
  pixels?: Buffer;
  more?: Buffer[];
}

function png({
  width = 2,
  height = 2,
  depth = 8,
  color = 2,
  interlace = 0,
  pixels,
  more = [],
}: Picture = {}): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([depth, color, 0, 0, interlace], 8);
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    chunk('IHDR', header),
    ...more,
    chunk('IDAT', deflateSync(pixels ?? Buffer.alloc((width * 3 + 1) * height))),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

const svg = (inside: string, more = 'viewBox="0 0 20 10"') =>
  `<svg xmlns="http://www.w3.org/2000/svg" ${more}>\n${inside}\n</svg>`;

describe('a template', () => {
  it('is read with all that it may have', async () => {
    write({
      'template.yaml': `title: Network security report
mark: Confidential
accent: "#0A6878"
logo: logo.svg
blocks:
  cover: Prepared for the board.
  footer: |
    ACME Ltd.
    Internal use only.
`,
      'logo.svg': svg('<path d="M0 0h20v10z" fill="#abc"/>'),
    });
    expect(await readTemplate(folder, 'acme')).toEqual({
      name: 'acme',
      title: 'Network security report',
      mark: 'Confidential',
      accent: '#0a6878',
      blocks: { cover: 'Prepared for the board.', footer: 'ACME Ltd.\nInternal use only.' },
      logo: {
        kind: 'vector',
        x: 0,
        y: 0,
        width: 20,
        height: 10,
        shapes: [
          {
            path: 'M0 0h20v10z',
            transform: null,
            fill: '#aabbcc',
            stroke: null,
            strokeWidth: 1,
            evenOdd: false,
            opacity: 1,
          },
        ],
      },
    });
  });

  it('may have a title only', async () => {
    write({ 'template.yaml': 'title: x' });
    expect(await readTemplate(folder, 'acme')).toMatchObject({
      title: 'x',
      mark: null,
      logo: null,
      blocks: {},
    });
  });

  it.each(['', '..', '.', '../acme', 'a/b', '/etc', 'a\0b', 'a.b', '-x', 'x'.repeat(65), '__proto__'])(
    'named %j does not exist, and those that do are named',
    async (name) => {
      write({ 'template.yaml': 'title: x' });
      write({ 'template.yaml': 'title: x' }, 'berlin');
      expect(await rejected(name)).toMatch(
        /^unknown template: no template has the name .*; there are summary, acme, berlin$/,
      );
    },
  );

  it('named summary comes with the program, unless the workspace has one of its own', async () => {
    expect(await rejected()).toMatch(/; there are summary$/);
    expect(await readTemplate(folder, 'summary')).toMatchObject({ name: 'summary', brief: true });
    write({ 'template.yaml': 'title: x' }, 'summary');
    expect(await readTemplate(folder, 'summary')).not.toHaveProperty('brief');
    rmSync(folder, { recursive: true });
    expect(await rejected()).toMatch(/; there are summary$/);
  });

  it.each<[string, string, string]>([
    [
      'an unknown key',
      'title: x\nlogos: a.png',
      'acme/template.yaml:2: unknown key "logos"; did you mean "logo"?',
    ],
    [
      'an unknown block',
      'blocks:\n  cower: x',
      'acme/template.yaml:2: unknown key "blocks.cower"; did you mean "blocks.cover"?',
    ],
    ['script', 'title: x\nscript: alert(1)', 'acme/template.yaml:2: unknown key "script"'],
    ['a number for text', 'title: 12', 'acme/template.yaml:1: title must be text'],
    ['a list for text', 'mark: [a]', 'acme/template.yaml:1: mark must be text'],
    ['nothing for text', 'title:', 'acme/template.yaml:1: title must be text'],
    ['text for blocks', 'blocks: x', 'acme/template.yaml:1: blocks must be a map'],
    ['a title of two lines', 'title: "a\\nb"', 'acme/template.yaml:1: title must be one line'],
    [
      'a title that is too long',
      `mark: a\ntitle: ${'x'.repeat(121)}`,
      'acme/template.yaml:2: title is longer than 120',
    ],
    ['a mark that is too long', `mark: ${'x'.repeat(41)}`, 'acme/template.yaml:1: mark is longer than 40'],
    [
      'a block that is too long',
      `blocks:\n  cover: ${'x'.repeat(2001)}`,
      'acme/template.yaml:2: blocks.cover is longer',
    ],
    ['an escape', 'title: "a\\x1b[31m"', 'acme/template.yaml:1: title has characters that cannot be seen'],
    ['a reversed text', 'mark: "a\\u202eb"', 'acme/template.yaml:1: mark has characters that cannot be seen'],
    ['a color by name', 'accent: teal', 'acme/template.yaml:1: accent must be a color'],
    ['a short color', 'accent: "#abc"', 'acme/template.yaml:1: accent must be a color'],
    ['a color with more behind', 'accent: "#0a6878;x"', 'acme/template.yaml:1: accent must be a color'],
    ['a color nobody can read', 'accent: "#ffee00"', 'acme/template.yaml:1: accent #ffee00 is too light'],
    [
      'a logo in another folder',
      'title: x\nlogo: ../other/logo.png',
      'acme/template.yaml:2: logo must be the name',
    ],
    ['a remote logo', 'logo: https://example.org/logo.png', 'acme/template.yaml:1: logo must be the name'],
    ['an absolute logo', 'logo: /etc/passwd', 'acme/template.yaml:1: logo must be the name'],
    ['a logo of another kind', 'logo: logo.gif', 'acme/template.yaml:1: logo must be the name'],
    ['a logo that is not there', 'logo: logo.png', 'acme/template.yaml:1: logo logo.png does not exist'],
    ['a key twice', 'title: x\ntitle: y', 'acme/template.yaml:2: Map keys must be unique'],
    ['a tag', 'title: !!js/function x', 'acme/template.yaml:1: Unresolved tag'],
    ['an alias', 'title: &a x\nmark: *a', 'acme/template.yaml:2: mark: write out the value'],
    ['a list', '- a', 'acme/template.yaml:1: the document is not a map'],
    ['nothing', '', 'acme/template.yaml:1: the document is empty'],
    [
      'endless nesting',
      `title: ${'['.repeat(30_000)}`,
      'acme/template.yaml:1: the document is nested too deeply',
    ],
    ['too much', `title: ${'x'.repeat(70_000)}`, 'acme/template.yaml: is larger than 64 KiB'],
  ])('with %s is rejected with its line', async (_what, text, message) => {
    write({ 'template.yaml': text });
    expect(await rejected()).toContain(message);
  });

  it('without template.yaml is rejected', async () => {
    mkdirSync(join(folder, 'acme'));
    expect(await rejected()).toContain('acme/template.yaml: does not exist');
  });

  it('is rejected where a link leads out of its folder', async () => {
    const secret = join(dirname(folder), 'secret');
    mkdirSync(secret);
    writeFileSync(join(secret, 'template.yaml'), 'title: secret');
    writeFileSync(join(secret, 'logo.svg'), svg('<path d="M0 0h1v1z"/>'));
    symlinkSync(secret, join(folder, 'linked'));
    expect(await rejected('linked')).toContain('no template has the name "linked"');
    mkdirSync(join(folder, 'acme'));
    symlinkSync(join(secret, 'template.yaml'), join(folder, 'acme', 'template.yaml'));
    expect(await rejected()).toContain('acme/template.yaml: is a link or not a file');
    write({ 'template.yaml': 'logo: logo.svg' }, 'other');
    symlinkSync(join(secret, 'logo.svg'), join(folder, 'other', 'logo.svg'));
    expect(await rejected('other')).toContain('other/template.yaml:1: logo logo.svg is a link or not a file');
    mkdirSync(join(folder, 'folders', 'template.yaml'), { recursive: true });
    expect(await rejected('folders')).toContain('is a link or not a file');
  });

  it('names several problems at once', async () => {
    write({ 'template.yaml': 'title: 1\nmark: 2\nlogo: logo.svg', 'logo.svg': svg('<script/>') });
    const message = await rejected();
    for (const place of ['template.yaml:1', 'template.yaml:2', 'logo.svg:2'])
      expect(message).toContain(`acme/${place}`);
  });
});

describe('a PNG logo', () => {
  const read = async (logo: Buffer) => {
    write({ 'template.yaml': 'logo: logo.png', 'logo.png': logo });
    return (await readTemplate(folder, 'acme')).logo;
  };

  it('is reduced to its image', async () => {
    const plain = png();
    const told = png({ more: [chunk('tEXt', Buffer.from('Author\0me')), chunk('acTL', Buffer.alloc(8))] });
    expect(await read(told)).toEqual({ kind: 'png', width: 2, height: 2, data: plain.toString('base64') });
  });

  it('drops what follows its end', async () => {
    expect(await read(Buffer.concat([png(), Buffer.from('<script>')]))).toEqual(await read(png()));
  });

  it.each<[string, Buffer, string]>([
    ['something else', Buffer.from('<svg/>'), 'is not a PNG file'],
    ['nothing', Buffer.alloc(0), 'is not a PNG file'],
    ['half a file', png().subarray(0, 60), 'is cut off'],
    ['no end', png().subarray(0, -12), 'is cut off'],
    [
      'a chunk longer than the file',
      Buffer.concat([png().subarray(0, 33), Buffer.from('ffffffff49444154', 'hex')]),
      'is cut off',
    ],
    ['no size', Buffer.concat([png().subarray(0, 8), png().subarray(33)]), 'does not start with its size'],
    ['two sizes', png({ more: [png().subarray(8, 33)] }), 'has two images'],
    ['an unknown chunk', png({ more: [chunk('EVIL', Buffer.alloc(1))] }), 'has a chunk of an unknown kind'],
    ['too many columns', png({ width: 4097, height: 1 }), 'has 4097 x 1 pixels'],
    [
      '4 gigapixels',
      png({ width: 65_535, height: 65_535, pixels: Buffer.alloc(9) }),
      'has 65535 x 65535 pixels',
    ],
    ['too many pixels', png({ width: 4096, height: 4096, pixels: Buffer.alloc(9) }), '4194304 in all'],
    ['no pixels', png({ width: 0 }), 'has no pixels'],
    ['a bomb', png({ pixels: Buffer.alloc(50_000_000) }), 'has more pixels than its size says'],
    ['too few pixels', png({ pixels: Buffer.alloc(3) }), 'has fewer pixels than its size says'],
    ['an unknown color type', png({ color: 5 }), 'has an unknown color format'],
    ['an odd depth', png({ depth: 3 }), 'has an unknown color format'],
    ['interlacing', png({ interlace: 1 }), 'is interlaced'],
    ['too many bytes', Buffer.concat([png(), Buffer.alloc(1024 * 1024)]), 'is larger than 1024 KiB'],
  ])('of %s is rejected', async (_what, logo, reason) => {
    write({ 'template.yaml': 'logo: logo.png', 'logo.png': logo });
    expect(await rejected()).toContain(reason);
  });

  it('with damaged image data is rejected', async () => {
    const damaged = png();
    damaged.fill(0x55, 43, 50);
    write({ 'template.yaml': 'logo: logo.png', 'logo.png': damaged });
    expect(await rejected()).toContain('acme/logo.png: has damaged image data');
  });
});
