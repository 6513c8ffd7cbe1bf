import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  appendFileSync,
  cpSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { AuditChain } from './audit-chain.ts';
import { checkAuditLog } from './audit-check.ts';
import { auditFiles } from './audit-files.ts';
import type { AuditGap } from './audit-record.ts';
import { verifiableLog } from './verifiable-log.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'portolan-audit-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const record = (name: string) => JSON.stringify({ name });
const lines = (path: string) => readFileSync(path, 'utf8').trimEnd().split('\n');
const place = () => ({ folder, file: null });
const days = (...dates: string[]) => dates.map((date) => new Date(`${date}T12:00:00Z`));

/** Appends like another process. */
function append(
  names: string[],
  now = new Date('2026-10-06T12:00:00Z'),
  file: string | null = null,
): { repaired: number; gaps: AuditGap[] } {
  const said = { repaired: 0, gaps: [] as AuditGap[] };
  const chain = new AuditChain(
    { folder, file },
    {
      onRepair: (_path, bytes) => {
        said.repaired += bytes;
      },
      onGap: (gap) => said.gaps.push(gap),
    },
  );
  expect(chain.append(names.map(record), now)).toBe(true);
  chain.close();
  return said;
}

function openGuardByHand(dir: string): DatabaseSync {
  const guard = new DatabaseSync(join(dir, '.guard'));
  guard.exec('begin exclusive');
  return guard;
}

/** Verifies like `audit verify`. @param files archived ones, which are not compared with the head */
function check(files?: string[], file: string | null = null) {
  const log = verifiableLog({ folder, file });
  return files ? checkAuditLog(files) : checkAuditLog(log?.files ?? [], { end: log?.end ?? null });
}

describe('audit chain', () => {
  it('goes through days, restarts and two chains that take turns', async () => {
    const [first, second] = days('2026-10-06', '2026-10-07') as [Date, Date];
    const [server, commandLine] = [new AuditChain(place()), new AuditChain(place())];
    for (let turn = 0; turn < 20; turn++) {
      server.append([record(`s${turn}`), record(`t${turn}`)], turn < 10 ? first : second);
      commandLine.append([record(`c${turn}`)], turn < 10 ? first : second);
    }
    server.close();
    commandLine.close();
    append(['after restart'], second);
    const report = await check();
    expect(report).toMatchObject({ ok: true, files: 2, records: 61, complete: true, problems: [] });
    expect(verifiableLog(place())?.end).toMatchObject({ hash: report.last_hash, records: 61 });
    expect(statSync(join(folder, '2026-10-06.jsonl')).mode & 0o777).toBe(0o600);
    expect(statSync(join(folder, '.head')).mode & 0o777).toBe(0o600);
  });

  it('lets one process append at a time', () => {
    const [one, other] = [new AuditChain(place()), new AuditChain(place())];
    one.append([record('a')]);
    // Holds the lock of the guard, like a process in the middle of an append.
    const guard = openGuardByHand(folder);
    expect(other.append([record('c')])).toBe(false);
    guard.close();
    expect(other.append([record('c')])).toBe(true);
    for (const chain of [one, other]) chain.close();
  });

  it('removes a record that a kill cut off, and completes one that only lacks its line feed', async () => {
    append(['one', 'two']);
    const path = auditFiles(place())[0] as string;
    appendFileSync(path, '{"name":"torn","prev_h');
    expect((await check()).problems).toMatchObject([{ file: path, line: 3 }]);
    expect(append(['three'])).toEqual({ repaired: 22, gaps: [] });
    truncateSync(path, statSync(path).size - 1);
    expect(append(['four'])).toEqual({ repaired: 0, gaps: [] });
    expect(await check()).toMatchObject({ ok: true, records: 4 });
  });

  it('goes on in a file that was emptied of nothing but a torn record', async () => {
    append(['day one'], days('2026-10-06')[0]);
    writeFileSync(join(folder, '2026-10-07.jsonl'), '{"na');
    append(['day two'], days('2026-10-07')[0]);
    expect(await check()).toMatchObject({ ok: true, records: 2 });
  });

  it('stays in the newest file when the clock is set back over midnight', async () => {
    append(['new day'], days('2026-10-07')[0]);
    append(['old day'], days('2026-10-06')[0]);
    expect(await check()).toMatchObject({ ok: true, files: 1, records: 2 });
  });

  it('goes on in a new file when the old one was taken away', async () => {
    const file = join(folder, 'audit.log');
    append(['one', 'two'], undefined, file);
    renameSync(file, `${file}.1`);
    append(['three'], undefined, file);
    expect(await check([`${file}.1`, file])).toMatchObject({ ok: true, records: 3 });
    expect(await check([file])).toMatchObject({ ok: true, records: 1, complete: false });
    expect(await check(undefined, file)).toMatchObject({ ok: true, records: 1 });
  });

  it('takes an empty file in the place of a rotated one for what it is', async () => {
    const file = join(folder, 'audit.log');
    append(['one', 'two'], undefined, file);
    renameSync(file, `${file}.1`);
    writeFileSync(file, '');
    expect(await check(undefined, file)).toMatchObject({ ok: true, records: 0 });
    expect(append(['three'], undefined, file).gaps).toEqual([]);
    expect(await check([`${file}.1`, file])).toMatchObject({ ok: true, records: 3 });
  });

  const cuts: [string, (path: string, all: string[]) => void, number | null][] = [
    ['emptied', (path) => truncateSync(path, 0), 3],
    ['cut behind a record', (path, all) => writeFileSync(path, `${all[0]}\n`), 2],
    ['cut in the middle of a record', (path, all) => truncateSync(path, (all[0]?.length ?? 0) + 30), 2],
    [
      'changed in its last record',
      (path, all) => writeFileSync(path, `${[...all.slice(0, 2), all[0]].join('\n')}\n`),
      null,
    ],
  ];
  const layouts: [string, string | null, Date[]][] = [
    ['the one file', 'audit.log', days('2026-10-06', '2026-10-06')],
    ['the file of the only day', null, days('2026-10-06', '2026-10-06')],
    ['the file of the newest day', null, days('2026-10-06', '2026-10-07')],
  ];
  for (const [what, tamper, removed] of cuts) {
    for (const [which, name, [first, last]] of layouts) {
      it(`${which}, ${what}, is found by verify, and by the next start, which leaves a gap record`, async () => {
        const file = name && join(folder, name);
        if (first?.getTime() !== last?.getTime()) append(['day before'], first, file);
        append(['n0', 'n1', 'n2'], last, file);
        const path = auditFiles({ folder, file }).at(-1) as string;
        tamper(path, lines(path));
        const found = await check(undefined, file);
        expect(found.ok).toBe(false);
        expect(found.problems.at(-1)).toMatchObject({ file: path });

        const gap = { reason: 'removed', records: removed, file: path };
        expect(append([], last, file).gaps).toEqual([gap]);
        append(['after'], days('2026-10-08')[0], file);
        expect(append(['later'], days('2026-10-08')[0], file).gaps).toEqual([]);
        const after = await check(undefined, file);
        const breaks = after.problems.filter(({ reason }) =>
          reason.includes('removed from the end of the log'),
        );
        expect(breaks).toHaveLength(1);
      });
    }
  }

  it('finds at the first record of a new day that the day before was cut', async () => {
    append(['one', 'two'], days('2026-10-06')[0]);
    const path = auditFiles(place())[0] as string;
    writeFileSync(path, `${lines(path)[0]}\n`);
    expect(append(['three'], days('2026-10-07')[0]).gaps).toEqual([
      { reason: 'removed', records: 1, file: path },
    ]);
    expect((await check()).ok).toBe(false);
  });

  it('finds the removal of all files, and that of its head', async () => {
    append(['one', 'two']);
    const path = auditFiles(place())[0] as string;
    const text = readFileSync(path);
    rmSync(path);
    expect((await check()).problems).toMatchObject([{ file: path, line: 0 }]);
    writeFileSync(path, text);
    expect((await check()).ok).toBe(true);
    rmSync(join(folder, '.head'));
    truncateSync(path, text.indexOf('\n') + 1);
    expect((await check()).problems).toMatchObject([{ file: path, line: 1 }]);
    expect(append(['three']).gaps).toEqual([{ reason: 'end_unknown', records: null }]);
    expect((await check()).problems).toMatchObject([{ file: path, line: 2 }]);
  });

  it('follows records behind its head, which a kill left there, and a head without a count', async () => {
    append(['one']);
    const head = readFileSync(join(folder, '.head'));
    append(['two', 'three']);
    writeFileSync(join(folder, '.head'), head);
    expect(await check()).toMatchObject({ ok: true, records: 3 });
    expect(append(['four']).gaps).toEqual([]);
    expect(verifiableLog(place())?.end).toMatchObject({ records: 4 });
    const { last_hash: last } = await check();
    writeFileSync(join(folder, '.head'), `${last}\n`);
    expect(await check()).toMatchObject({ ok: true, records: 4 });
    expect(append(['five']).gaps).toEqual([]);
    expect(verifiableLog(place())?.end).toMatchObject({ records: 5 });
  });

  it('begins anew beside the empty head of a process that was killed before its first record', async () => {
    writeFileSync(join(folder, '.head'), '');
    expect(verifiableLog(place())).toBeNull();
    expect(append(['one'])).toEqual({ repaired: 0, gaps: [] });
    expect(await check()).toMatchObject({ ok: true, records: 1, complete: true });
    writeFileSync(join(folder, '.head'), '');
    expect((await check()).ok).toBe(false);
    expect(append(['two']).gaps).toEqual([{ reason: 'end_unknown', records: null }]);
  });

  it('goes on when the workspace was moved, and finds a cut there too', async () => {
    append(['one', 'two']);
    const moved = await mkdtemp(join(tmpdir(), 'portolan-audit-'));
    try {
      cpSync(folder, moved, { recursive: true });
      const chain = (gaps: AuditGap[] = []) => {
        const opened = new AuditChain({ folder: moved, file: null }, { onGap: (gap) => gaps.push(gap) });
        opened.check(days('2026-10-06')[0]);
        opened.close();
        return gaps;
      };
      expect(chain()).toEqual([]);
      truncateSync(join(moved, '2026-10-06.jsonl'), 0);
      expect(chain()).toMatchObject([{ reason: 'removed', records: 2 }]);
    } finally {
      await rm(moved, { recursive: true });
    }
  });

  it('tells what waits in a process that runs from what one took along', () => {
    append(['one']);
    const running = new AuditChain(place());
    running.noteWaiting(5);
    running.append(['a', 'b', 'c'].map(record), days('2026-10-06')[0]);
    running.close();
    // The same note by a process that has died: two of the five were still waiting.
    const head = join(folder, '.head');
    expect(readFileSync(head, 'utf8')).toContain('"records":2,"since"');
    const [json = ''] = readFileSync(head, 'utf8').split('\t');
    const gone = json.replace(`"pid":${process.pid}`, '"pid":4194305');
    writeFileSync(head, `${gone}\t${createHash('sha256').update(gone).digest('hex')}\n`);
    expect(append(['three']).gaps).toMatchObject([{ reason: 'not_written', records: 2 }]);
    expect(append(['four']).gaps).toEqual([]);
  });

  it.each([
    ['changed', (all: string[]) => all.map((line, at) => (at === 2 ? line.replace('n2', 'n9') : line)), 3],
    ['removed', (all: string[]) => all.filter((_line, at) => at !== 2), 3],
    ['put in', (all: string[]) => [...all.slice(0, 2), all[0] as string, ...all.slice(2)], 3],
    ['exchanged', (all: string[]) => [all[0], all[2], all[1], ...all.slice(3)] as string[], 2],
    ['removed at the end', (all: string[]) => all.slice(0, -2), 3],
    ['replaced by other text', (all: string[]) => [...all.slice(0, 1), 'hello', ...all.slice(2)], 2],
  ])('shows where a record was %s', async (_what, tamper, line) => {
    append(['n0', 'n1', 'n2', 'n3', 'n4']);
    const path = auditFiles(place())[0] as string;
    writeFileSync(path, `${tamper(lines(path)).join('\n')}\n`);
    const report = await check();
    expect(report.ok).toBe(false);
    expect(report.problems[0]).toMatchObject({ file: path, line });
  });

  it('stays whole when several processes append and some of them are killed (kill -9)', async () => {
    const source = `
      import { AuditChain } from ${JSON.stringify(new URL('./audit-chain.ts', import.meta.url).href)};
      const chain = new AuditChain({ folder: ${JSON.stringify(folder)}, file: null });
      const text = 'x'.repeat(2000);
      for (const until = Date.now() + 1500; Date.now() < until; ) {
        chain.append([JSON.stringify({ pid: process.pid, text }), JSON.stringify({ text })]);
      }`;
    const start = () => promisify(execFile)(process.execPath, ['--input-type=module', '-e', source]);
    const doomed = [start(), start()];
    const others = [start(), start()];
    await new Promise((resolve) => setTimeout(resolve, 900));
    for (const run of doomed) run.child.kill('SIGKILL');
    await Promise.allSettled(doomed);
    await Promise.all(others);
    append(['last'], new Date());
    const report = await check();
    expect(report.problems).toEqual([]);
    expect(report.records).toBeGreaterThan(20);
  });
});
