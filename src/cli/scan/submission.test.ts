import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { reportWishes, type ScanFlags, submissionOf } from './submission.ts';

const flags: ScanFlags = { discover: true, fingerprint: true, wait: true };
let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'portolan-list-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

describe('submissionOf', () => {
  it('holds only what was asked for', async () => {
    expect(await submissionOf(['192.0.2.1'], flags)).toEqual({ targets: ['192.0.2.1'] });
  });

  it('maps every flag to its field', async () => {
    const all: ScanFlags = {
      ...flags,
      targets: '192.0.2.2, 192.0.2.3',
      exclude: '192.0.2.9',
      topPorts: 50,
      profile: 'quick',
      rate: 10,
      timeout: '1s',
      retries: 2,
      concurrency: 5,
      maxDuration: '1m',
      scanType: 'connect',
      discover: false,
      vuln: false,
      intrusive: true,
      failFast: true,
      scanName: 'n',
      tags: 'a,b',
    };
    expect(await submissionOf(['192.0.2.1,host.example'], all)).toEqual({
      targets: ['192.0.2.1', 'host.example', '192.0.2.2', '192.0.2.3'],
      exclude: ['192.0.2.9'],
      ports: 'top-50',
      profile: 'quick',
      rate: 10,
      vuln: false,
      name: 'n',
      tags: ['a', 'b'],
      options: {
        scan_type: 'connect',
        discover: false,
        concurrency: 5,
        timeout: '1s',
        retries: 2,
        max_duration: '1m',
        intrusive: true,
        fail_fast: true,
      },
    });
  });

  it('names the discovery graph', async () => {
    expect(await submissionOf(['192.0.2.1'], { ...flags, onlyDiscover: true })).toMatchObject({
      dag: 'discovery-only',
    });
  });

  it('reads lists with comments, blank lines and commas', async () => {
    const file = join(folder, 'hosts.txt');
    await writeFile(file, '\ufeff# all\r\n192.0.2.1 # gateway\n\n  192.0.2.2,192.0.2.3\n');
    const expected = ['192.0.2.1', '192.0.2.2', '192.0.2.3'];
    expect((await submissionOf([`@${file}`], flags)).targets).toEqual(expected);
    expect((await submissionOf([], { ...flags, targetFile: file })).targets).toEqual(expected);
    expect((await submissionOf(['192.0.2.4'], { ...flags, excludeFile: file }))['exclude']).toEqual(expected);
  });

  it('keeps mistakes for the check that names them', async () => {
    expect((await submissionOf(['192.0.2.1,,x;y'], flags)).targets).toEqual(['192.0.2.1', '', 'x;y']);
    expect((await submissionOf(['192.0.2.1 - 192.0.2.9'], flags)).targets).toEqual([
      '192.0.2.1',
      '-',
      '192.0.2.9',
    ]);
  });

  it('splits targets at blanks and commas, but not octet lists', async () => {
    const own: ScanFlags = { ...flags, targets: '192.0.2.4 192.0.2.5', exclude: '192.0.2.1,7 192.0.2.9' };
    expect(await submissionOf(['192.0.2-3.1,7', 'a.example,b.example\tc.example'], own)).toEqual({
      targets: ['192.0.2-3.1,7', 'a.example', 'b.example', 'c.example', '192.0.2.4', '192.0.2.5'],
      exclude: ['192.0.2.1,7', '192.0.2.9'],
    });
  });

  it.each([
    ['UTF-8', Buffer.from('\ufeff192.0.2.1\r\n192.0.2.2\r\n')],
    ['UTF-16 LE', Buffer.from('\ufeff192.0.2.1\r\n192.0.2.2\r\n', 'utf16le')],
    ['UTF-16 BE', Buffer.from('\ufeff192.0.2.1\r\n192.0.2.2\r\n', 'utf16le').swap16()],
  ])('reads a list in %s with a byte order mark', async (_, bytes) => {
    const file = join(folder, 'hosts.txt');
    await writeFile(file, bytes);
    expect((await submissionOf([`@${file}`], flags)).targets).toEqual(['192.0.2.1', '192.0.2.2']);
  });

  it('refuses a list that is no text', async () => {
    const file = join(folder, 'hosts.bin');
    await writeFile(file, Buffer.from('192.0.2.1\n', 'utf16le'));
    await expect(submissionOf([`@${file}`], flags)).rejects.toThrow('is no text');
  });

  it('warns once of URLs and ports in a list, and of lines that were left out', async () => {
    const file = join(folder, 'hosts.txt');
    await writeFile(file, 'https://192.0.2.1/\n192.0.2.2:22\nff02::1 ip6-allnodes\n');
    const said: string[] = [];
    const write = vi.spyOn(process.stderr, 'write').mockImplementation((text) => said.push(String(text)) > 0);
    const { targets } = await submissionOf([], { ...flags, targetFile: file });
    write.mockRestore();
    expect(targets).toEqual(['192.0.2.1', '192.0.2.2']);
    expect(said).toEqual([
      `warning: ${file}: hosts taken from URLs and host:port (https://192.0.2.1/ and 1 more); for their ports: -p 22,443\n`,
      `warning: ${file}: 1 line left out, no address of a single host: ff02::1 ip6-allnodes\n`,
    ]);
  });

  it('says of ports in a list of exclusions that they are excluded', async () => {
    const file = join(folder, 'hosts.txt');
    await writeFile(file, '192.0.2.2:22\n');
    const said: string[] = [];
    const write = vi.spyOn(process.stderr, 'write').mockImplementation((text) => said.push(String(text)) > 0);
    const { exclude } = await submissionOf(['192.0.2.0/24'], { ...flags, excludeFile: file });
    write.mockRestore();
    expect(exclude).toEqual(['192.0.2.2']);
    expect(said).toEqual([
      `warning: ${file}: hosts taken from URLs and host:port (192.0.2.2:22); all their ports are excluded\n`,
    ]);
  });

  it('names the list that has no targets', async () => {
    const file = join(folder, 'hosts.txt');
    await writeFile(file, '# none\n');
    await expect(submissionOf([], { ...flags, targetFile: file })).rejects.toThrow(`no targets in ${file}`);
  });

  it('refuses no targets and unreadable lists', async () => {
    await expect(submissionOf([], flags)).rejects.toMatchObject({ code: 'usage', exitCode: 2 });
    await expect(submissionOf(['@/none/such'], flags)).rejects.toThrow('no such file');
    await expect(submissionOf([`@${folder}`], flags)).rejects.toThrow('is a directory');
    await expect(submissionOf(['@'], flags)).rejects.toThrow('file name');
  });

  it('reads no endless list', async () => {
    await expect(submissionOf(['@/dev/zero'], flags)).rejects.toThrow('larger than 8 MiB');
  });
});

describe('reportWishes', () => {
  it.each([
    ['pdf', { template: 'acme', paper: 'letter', against: 'latest' }],
    ['nmap', {}],
    ['text', {}],
  ] as const)('of the format %s are %j', async (format, wishes) => {
    const asked: ScanFlags = { ...flags, template: 'acme', paper: 'letter', compareWith: 'latest' };
    expect(await reportWishes({ output: { file: null, format }, flags: asked as never })).toEqual(wishes);
  });
});
