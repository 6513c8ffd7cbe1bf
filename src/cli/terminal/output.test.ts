import { mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { checkOutputFile, chooseFile, chooseOutput, writeResult } from './output.ts';

let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'portolan-output-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function* text(...chunks: string[]) {
  yield* chunks;
}

async function* broken() {
  yield 'half';
  throw new Error('broke off');
}

describe('chooseOutput', () => {
  it.each([
    [{}, null, 'text'],
    [{ output: 'json' }, null, 'json'],
    [{ output: 'text', format: 'csv' }, null, 'csv'],
    [{ output: 'result.csv' }, 'result.csv', 'csv'],
    [{ output: 'result.JSONL' }, 'result.JSONL', 'jsonl'],
    [{ output: 'result' }, 'result', 'text'],
    [{ output: './json' }, './json', 'text'],
    [{ output: 'result.csv', format: 'json' }, 'result.csv', 'json'],
    [{ output: '-', format: 'json' }, null, 'json'],
    [{ output: 'yaml' }, null, 'yaml'],
    [{ output: 'report.html' }, 'report.html', 'html'],
    [{ output: 'report.PDF' }, 'report.PDF', 'pdf'],
    [{ output: 'report.md' }, 'report.md', 'markdown'],
    [{ output: 'report.xml' }, 'report.xml', 'nmap'],
    [{ output: 'report.SARIF' }, 'report.SARIF', 'sarif'],
    [{ output: 'report.yml' }, 'report.yml', 'yaml'],
    [{ output: 'html' }, 'html', 'text'],
    [{ output: 'scan.nmap' }, 'scan.nmap', 'text'],
    [{ output: '.hidden' }, '.hidden', 'text'],
    [{ output: 'folder.d/result' }, 'folder.d/result', 'text'],
    [{ output: '/dev/null' }, '/dev/null', 'text'],
    [{ output: 'report.docx', format: 'html' }, 'report.docx', 'html'],
    [{ output: 'report.docx', format: 'text' }, 'report.docx', 'text'],
  ] as const)('%j', (flags, file, format) => {
    expect(chooseOutput(flags)).toEqual({ file, format });
  });

  it.each([
    [{ format: 'xml' }, 'unknown format'],
    [{ output: 'scan.tar.gz' }, 'workspace export'],
    [{ output: '' }, 'needs a file name'],
    [{ output: 'report.docx' }, 'unknown ending ".docx" of report.docx (.json, '],
    [{ output: 'report.html.part' }, 'unknown ending ".part"'],
    [{ output: 'scan-192.0.2.10' }, 'unknown ending ".10"'],
    [{ output: 'scan.' }, 'unknown ending "."'],
    [{ output: 'scan.constructor' }, 'unknown ending'],
  ])('refuses %j', (flags, reason) => {
    expect(() => chooseOutput(flags)).toThrow(reason);
  });
});

describe('chooseFile', () => {
  it.each([
    [{ output: 'scan.tar.gz' }, 'tar.gz'],
    [{ output: 'SCAN.TAR.GZ' }, 'tar.gz'],
    [{ output: 'scan.tgz' }, 'tar.gz'],
    [{ format: 'tar.gz' }, 'tar.gz'],
  ] as const)('takes %j for %s', (flags, format) => {
    expect(chooseFile(flags)).toMatchObject({ format });
  });

  it('names the endings of the command when it rejects one', () => {
    const rejected = expect.objectContaining({ code: 'usage', exitCode: 2 });
    expect(() => chooseFile({ output: 'scan.gz' })).toThrow(rejected);
    expect(() => chooseFile({ output: 'scan.gz' })).toThrow(/\.sarif, .*\.tar\.gz/);
    expect(() => chooseOutput({ output: 'scan.gz' })).toThrow(/\.sarif, (?!.*\.tar\.gz)/);
  });
});

describe('writeResult', () => {
  it('writes a private file', async () => {
    const file = join(folder, 'result.json');
    await writeResult(file, text('a', 'ü'));
    expect(await readFile(file, 'utf8')).toBe('aü');
    expect((await stat(file)).mode & 0o777).toBe(0o600);
  });

  it('leaves nothing behind when the result breaks off, and keeps what was there', async () => {
    const file = join(folder, 'result.json');
    await writeFile(file, 'before');
    await expect(writeResult(file, broken())).rejects.toThrow('broke off');
    expect(await readdir(folder)).toEqual(['result.json']);
    expect(await readFile(file, 'utf8')).toBe('before');
  });

  it('writes through a link and keeps it', async () => {
    await writeFile(join(folder, 'real'), 'before');
    await symlink(join(folder, 'real'), join(folder, 'link'));
    await writeResult(join(folder, 'link'), text('after'));
    expect(await readFile(join(folder, 'real'), 'utf8')).toBe('after');
  });

  it('does not replace a device', async () => {
    await writeResult('/dev/null', text('gone'));
    expect((await stat('/dev/null')).isCharacterDevice()).toBe(true);
  });

  it('refuses a missing folder, a folder as file and reports a full disk', async () => {
    await mkdir(join(folder, 'sub'));
    await expect(checkOutputFile(join(folder, 'none', 'x'))).rejects.toMatchObject({
      code: 'not_found',
      exitCode: 1,
    });
    await expect(checkOutputFile(join(folder, 'sub'))).rejects.toMatchObject({
      code: 'conflict',
      exitCode: 1,
    });
    await expect(writeResult('/dev/full', text('x'))).rejects.toMatchObject({ code: 'insufficient_storage' });
  });
});
