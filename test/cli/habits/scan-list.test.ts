import type { ChildProcess } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Home } from '../command.ts';
import { runInTerminal, runOnPseudoTerminal } from '../terminal.ts';

const home = new Home();
afterAll(() => home.remove());

const ids: string[] = [];

/** Runs a scan until it has sent packets, then kills it as `kill -9` does. */
async function killedScan(): Promise<void> {
  let child: ChildProcess | undefined;
  const slow = ['127.8.0.0/24', '127.9.0.0/24', '--no-discover', '--ports', '9', '--rate', '1'];
  const ended = home.start(['scan', ...slow, '--scan-name', 'Berlin'], {
    started: (process) => (child = process),
  });
  for (;;) {
    const { stdout } = await home.run(['workspace', 'list', '--format', 'json']);
    const [newest] = (JSON.parse(stdout) as { scans: { scan_id: string; status: string }[] }).scans;
    if (newest?.status === 'running') {
      ids.unshift(newest.scan_id);
      break;
    }
  }
  child?.kill('SIGKILL');
  await ended;
}

beforeAll(async () => {
  const scan = ['scan', '127.0.0.1', '--no-discover', '--ports', '9', '--vuln', '--format', 'json'];
  ids.unshift((JSON.parse((await home.run(scan)).stdout) as { scan_id: string }).scan_id);
  await killedScan();
}, 240_000);

const list = ['workspace', 'list'];

describe('scan list, show, export', () => {
  it.each([
    [
      ['list', '--json'],
      ['list', '--format', 'json'],
    ],
    [
      ['show', 'latest', '--json'],
      ['show', 'latest', '--format', 'json'],
    ],
    [
      ['export', 'latest', '--format', 'csv'],
      ['export', 'latest', '--format', 'csv'],
    ],
  ])('scan %j is workspace %j', async (ofScan, ofWorkspace) => {
    const [scan, workspace] = [
      await home.run(['scan', ...ofScan]),
      await home.run(['workspace', ...ofWorkspace]),
    ];
    expect(scan).toEqual(workspace);
    expect([scan.code, scan.stderr]).toEqual([0, '']);
  });

  it('read the flags before their name, and reject those of scan alone', async () => {
    const before = await home.run(['scan', '--format', 'csv', 'list']);
    expect(before.stdout).toMatch(/^scan_id,status,/);
    const foreign = await home.run(['scan', 'list', '--ports', '3']);
    expect(foreign.stderr).toBe('portolan: --ports is a flag of scan, not of scan list\n');
  });
});

describe('scan', () => {
  it('reads a list of targets with -l, a name with --name', async () => {
    writeFileSync(home.file('targets'), '127.0.0.7\n');
    const words = ['-l', home.file('targets'), '--name', 'nightly', '--dry-run', '--json'];
    const { stdout, stderr } = await home.run(['scan', ...words]);
    expect([JSON.parse(stdout), stderr]).toMatchObject([{ targets: ['127.0.0.7'] }, '']);
  });
});

describe('workspace list', () => {
  it('is a table of scans with counts at the right and relative times', async () => {
    const { code, lines } = await runInTerminal(home, [...list, '--no-color']);
    expect([code, lines[0]]).toEqual([
      0,
      expect.stringMatching(/^ID {22}STATUS {7}WHEN +OPEN {2}FINDINGS {2}TARGETS$/),
    ]);
    expect(lines[1]).toMatch(
      new RegExp(`^${ids[0]} {2}interrupted {2}(?:now|\\d+ \\w+ ago) +0 {9}– {2}127.8.0\\S+ \\+1$`),
    );
    expect(lines[2]).toMatch(
      new RegExp(`^${ids[1]} {2}completed {4}(?:now|\\d+ \\w+ ago) +0 {9}0 {2}127.0.0.1$`),
    );
  });

  it.each([60, 80, 100, 160])('fits into %i columns without cutting an id', async (columns) => {
    const { lines } = await runInTerminal(home, list, { columns, env: { NO_COLOR: '1' } });
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(columns);
    for (const id of ids) expect(lines.some((line) => line.startsWith(id))).toBe(true);
    expect(lines[0]?.includes('NAME')).toBe(columns >= 100);
  });

  it('cuts nothing in a pipe', async () => {
    const { stdout, stderr } = await home.run([...list, '--limit', '1']);
    expect(stdout).toMatch(/ {2}TOOK {2}HOSTS {2}OPEN {2}FINDINGS {2}NAME {4}TARGETS\n/);
    expect(stdout).toContain('  Berlin  127.8.0.0/24 127.9.0.0/24\n');
    expect(stderr).toBe('1 of 2 scans: --limit 2\n');
  });
});

describe('color', () => {
  const bold = /\x1b\[\d+m/;

  it('is in a terminal only, and the word stays without it', async () => {
    const colored = await runOnPseudoTerminal(home, list);
    expect(colored.stdout).toContain('\x1b[33minterrupted\x1b[39m');
    const plain = [
      (await home.run(list)).stdout,
      (await runInTerminal(home, [...list, '--no-color'])).stdout,
      (await runInTerminal(home, list, { env: { NO_COLOR: '1' } })).stdout,
      (await runInTerminal(home, list, { env: { TERM: 'dumb' } })).stdout,
    ];
    for (const text of plain) {
      expect(text).not.toMatch(bold);
      expect(text).toContain('interrupted');
    }
  });

  it.each(['CLICOLOR_FORCE', 'FORCE_COLOR'])('is in a pipe with %s, for people only', async (name) => {
    const env = { [name]: '1' };
    expect((await home.run(list, { env })).stdout).toMatch(bold);
    expect((await home.run([...list, '--format', 'csv'], { env })).stdout).not.toMatch(bold);
    const both = await home.run(list, { env: { ...env, NO_COLOR: '1' } });
    expect([both.stdout, both.stderr]).toEqual([expect.not.stringMatching(bold), '']);
  });
});

describe('glyphs', () => {
  it.each([{ LANG: 'C' }, { LANG: 'ja_JP.UTF-8' }])('are ASCII with %j', async (locale) => {
    const { stdout } = await runInTerminal(home, [...list, '--no-color'], { env: locale });
    expect(stdout).not.toMatch(/[^\x20-\x7e\n]/);
    expect(stdout).toMatch(/ {2}- {2}127/);
  });
});
