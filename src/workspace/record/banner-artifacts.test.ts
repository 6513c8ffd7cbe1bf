import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { PortRow } from '../../domain/result.ts';
import { describeBytes } from '../../domain/text/banner.ts';
import { ScanFolder } from '../scan-folder.ts';
import { bannerFileName, writeBannerFiles } from './banner-artifacts.ts';
import { openRecord } from './record-writer.ts';

let folder: ScanFolder;

beforeEach(async () => {
  folder = new ScanFolder(await mkdtemp(join(tmpdir(), 'portolan-artifacts-')));
});

afterEach(async () => {
  await rm(folder.path, { recursive: true, force: true });
});

async function record(banners: [host: string, port: number, bytes: Uint8Array][]): Promise<void> {
  const writer = await openRecord(folder);
  for (const [host, port, bytes] of banners) {
    const row: PortRow = {
      type: 'port',
      timestamp: '2026-10-06T14:30:24.010Z',
      host,
      port,
      protocol: 'tcp',
      state: 'open',
      reason: 'syn-ack',
      ...describeBytes(bytes),
    };
    await writer.append(row);
  }
  await writer.close();
}

const files = () => join(folder.path, 'artifacts', 'banners');

it('holds the exact bytes that the service sent', async () => {
  const hostile = Buffer.from([0, 0xff, 0x1b, 0x5b, 0x0d, 0x0a, 0xe2, 0x80, 0xa8, 0x5c, 0x78, 0x30, 0x30]);
  await record([
    ['10.0.0.1', 22, Buffer.from('SSH-2.0-OpenSSH_9.2\r\n')],
    ['10.0.0.1', 23, hostile],
    ['10.0.0.1', 24, Buffer.alloc(0)],
    ['2001:db8::1', 80, Buffer.from('x')],
  ]);
  expect(await writeBannerFiles(folder)).toBe(0);
  expect((await readdir(files())).sort()).toEqual([
    '10.0.0.1-22-tcp.txt',
    '10.0.0.1-23-tcp.txt',
    '2001_db8__1-80-tcp.txt',
  ]);
  expect((await readFile(join(files(), '10.0.0.1-23-tcp.txt'))).equals(hostile)).toBe(true);
  expect(await readFile(join(files(), '10.0.0.1-22-tcp.txt'), 'utf8')).toBe('SSH-2.0-OpenSSH_9.2\r\n');
  expect((await stat(join(files(), '10.0.0.1-22-tcp.txt'))).mode & 0o777).toBe(0o600);
  expect((await stat(files())).mode & 0o777).toBe(0o700);
});

it('replaces what a crash left half written, and leaves what is whole', async () => {
  await record([['10.0.0.1', 22, Buffer.from('whole')]]);
  const draft = join(folder.path, 'artifacts', 'banners.new');
  await mkdir(draft, { recursive: true });
  await writeFile(join(draft, '10.0.0.1-22-tcp.txt'), 'wh');
  await writeBannerFiles(folder);
  expect(await readdir(join(folder.path, 'artifacts'))).toEqual(['banners']);
  expect(await readFile(join(files(), '10.0.0.1-22-tcp.txt'), 'utf8')).toBe('whole');
  const { ino } = await stat(files());
  await writeBannerFiles(folder);
  expect((await stat(files())).ino).toBe(ino);
});

it('makes nothing without a banner, and tells how many were too many', async () => {
  await record([['10.0.0.1', 22, Buffer.alloc(0)]]);
  await writeBannerFiles(folder);
  expect(await readdir(folder.path)).not.toContain('artifacts');
  await record(
    Array.from({ length: 40 }, (_, port) => ['10.0.0.2', port + 1, Buffer.from('x')] as const).map((b) => [
      ...b,
    ]),
  );
  expect(await writeBannerFiles(folder, 33)).toBe(7);
  expect(await readdir(files())).toHaveLength(33);
});

it('gives different hosts different names that are safe anywhere', () => {
  const hosts = [
    '::1',
    '1::',
    'fe80::1%eth0',
    'fe80::1%eth_0',
    'fe80::1%eth-0',
    'fe80::1%../x',
    '10.0.0.1',
    '..',
    'a/b',
    'a_b',
  ];
  const names = hosts.map((host) => bannerFileName({ host, port: 1, protocol: 'udp' }));
  expect(new Set(names).size).toBe(hosts.length);
  for (const name of names) expect(name).toMatch(/^[0-9A-Za-z._%]+-1-udp\.txt$/);
});
