import { execFile } from 'node:child_process';
import { appendFileSync, readFileSync, renameSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { AuditChain, auditFiles, headOf, settledSizes } from './audit-chain.ts';
import { checkAuditLog } from './audit-check.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'portolan-audit-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const record = (name: string) => JSON.stringify({ name });
const lines = (path: string) => readFileSync(path, 'utf8').trimEnd().split('\n');
const place = () => ({ folder, file: null });
const days = (...dates: string[]) => dates.map((date) => new Date(`${date}T12:00:00Z`));

/** Appends with a chain of its own, as another process does. */
function append(names: string[], now = new Date('2026-10-06T12:00:00Z'), file: string | null = null): number {
  let repaired = 0;
  const chain = new AuditChain({ folder, file }, (_path, bytes) => {
    repaired += bytes;
  });
  expect(chain.append(names.map(record), now)).toBe(true);
  chain.close();
  return repaired;
}

function openGuardByHand(dir: string): DatabaseSync {
  const guard = new DatabaseSync(join(dir, '.guard'));
  guard.exec('begin exclusive');
  return guard;
}

const check = (files = auditFiles(place())) =>
  checkAuditLog(files, { sizes: settledSizes(place(), files), head: headOf(place()) });

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
    expect(report.last_hash).toBe(headOf(place()));
    expect(statSync(join(folder, '2026-10-06.jsonl')).mode & 0o777).toBe(0o600);
    expect(statSync(join(folder, '.head')).mode & 0o777).toBe(0o600);
  });

  it('lets one process append at a time', () => {
    const [one, other] = [new AuditChain(place()), new AuditChain(place())];
    one.append([record('a')]);
    // The lock of the guard is taken by hand, as a process in the middle of an append has it.
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
    expect(append(['three'])).toBe(22);
    truncateSync(path, statSync(path).size - 1);
    expect(append(['four'])).toBe(0);
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
