import { execFile, execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, renameSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { checkAuditLog } from '../../workspace/audit/audit-check.ts';
import { auditFiles } from '../../workspace/audit/audit-files.ts';
import { AuditLog } from '../../workspace/audit/audit-log.ts';
import type { AuditEvent } from '../../workspace/audit/audit-record.ts';
import { openService } from '../fixtures/service.ts';

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'portolan-audit-log-'));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

const recordsOf = (files: string[]) =>
  files.flatMap((path) =>
    readFileSync(path, 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as AuditEvent & { timestamp: string }),
  );

describe('scan events', () => {
  it('tell the begin and the end of a scan', async () => {
    const service = await openService({ 'logging.audit.enabled': true }, { working: true });
    try {
      const scanId = await service.submit('rows 3');
      await service.until(scanId, ({ status }) => status === 'completed' || status === 'failed');
      await new Promise((resolve) => setTimeout(resolve, 300));
      const files = auditFiles({ folder: join(service.workspace.dir, 'audit'), file: null });
      const about = recordsOf(files).filter(({ resource }) => resource?.id === scanId);
      expect(about.map(({ event }) => event).sort()).toEqual(['api_access', 'scan_complete', 'scan_start']);
      const start = about.find(({ event }) => event === 'scan_start');
      expect(start).toMatchObject({ actor: { type: 'anonymous' }, request: null, details: { targets: 1 } });
    } finally {
      await service.close();
    }
  });
});

const event: AuditEvent = {
  event: 'api_access',
  outcome: 'allowed',
  actor: { type: 'system', id: null, name: null },
  tenant: null,
  request: null,
  resource: null,
  details: {},
};

describe('audit log', () => {
  const open = (file: string, said: string[] = []) =>
    new AuditLog({
      folder: join(dir, 'audit'),
      settings: { enabled: true, reads: false, file, events: ['api_access'] },
      onFault: (message) => said.push(message),
      onRecovery: (message) => said.push(message),
      onGap: (message) => said.push(message),
    });

  it('keeps what it cannot write, says so once, and writes it when it can', async () => {
    const file = join(dir, 'place', 'audit.log');
    mkdirSync(file, { recursive: true });
    const said: string[] = [];
    const log = open(file, said);
    for (let n = 0; n < 3; n++) await log.record({ ...event, details: { n } });
    expect([log.fault, said]).toEqual([
      'cannot write the audit log: EISDIR',
      ['cannot write the audit log: EISDIR'],
    ]);
    await rm(file, { recursive: true });
    await new Promise((resolve) => setTimeout(resolve, 1300));
    expect(log.fault).toBeNull();
    await log.record({ ...event, details: { n: 3 } });
    await log.close();
    expect(recordsOf([file]).map(({ details }) => details['n'])).toEqual([0, 1, 2, 3]);
    expect(await checkAuditLog([file])).toMatchObject({ ok: true, complete: true });
    expect(said).toHaveLength(2);
  });

  it('leaves a gap record for records that waited when their process was killed', async () => {
    const file = join(dir, 'audit.log');
    // A folder replaces the file, so three records wait until the process is killed.
    const doomed = `
      import { mkdirSync, renameSync } from 'node:fs';
      import { AuditLog } from ${module('../../workspace/audit/audit-log.ts')};
      const file = ${JSON.stringify(file)};
      const settings = { enabled: true, file, events: ['api_access'] };
      const silent = () => undefined;
      const folder = ${JSON.stringify(join(dir, 'audit'))};
      const log = new AuditLog({ folder, settings, onFault: silent, onRecovery: silent, onGap: silent });
      await log.record(${JSON.stringify(event)});
      renameSync(file, file + '.aside');
      mkdirSync(file);
      for (let n = 0; n < 3; n++) await log.record(${JSON.stringify(event)});
      process.kill(process.pid, 'SIGKILL');`;
    await promisify(execFile)(process.execPath, ['--input-type=module', '-e', doomed]).catch(() => undefined);
    await rm(file, { recursive: true });
    renameSync(`${file}.aside`, file);

    const said: string[] = [];
    const log = open(file, said);
    await log.check();
    expect(said).toEqual([expect.stringMatching(/^the audit log has a gap: 3 records .* lost, since 2/)]);
    expect(log.gap).toBe(said[0]);
    await log.record(event);
    await log.close();
    expect(recordsOf([file]).map(({ details }) => details)).toEqual([
      {},
      { operation: 'audit.gap', reason: 'not_written', records: 3, since: expect.any(String) },
      {},
    ]);
    const report = await checkAuditLog([file]);
    expect(report).toMatchObject({ ok: true, problems: [], gaps: [{ file, line: 2 }] });
    expect(said).toHaveLength(1);
  });

  it('writes thousands of records of one moment in order, cuts one that is far too long', async () => {
    const file = join(dir, 'audit.log');
    const log = open(file);
    const all = Array.from({ length: 3000 }, (_, n) => log.record({ ...event, details: { n } }));
    await Promise.all(all);
    await log.record({ ...event, details: { text: 'x'.repeat(200_000) } });
    await log.close();
    const records = recordsOf([file]);
    expect(records.slice(0, 3000).every(({ details }, at) => details['n'] === at)).toBe(true);
    expect(records.at(-1)?.details).toEqual({ cut: true });
    expect((await checkAuditLog([file])).ok).toBe(true);
  });

  it('holds no raw control character and no token', async () => {
    const file = join(dir, 'audit.log');
    const log = open(file);
    const token = `svc_abc123_${'x'.repeat(43)}`;
    await log.record({ ...event, details: { text: `\u001b[2J\u009b1m\u202e\u2028\ud800 ${token}` } });
    await log.close();
    const text = readFileSync(file, 'utf8');
    expect(text).toMatch(/^[\x20-\x7e]*\n$/);
    expect(text).not.toContain(token);
    expect(recordsOf([file])[0]?.details['text']).toContain('\u009b1m\u202e\u2028');
  });
});

/** Mounting a file system of limited size needs root; in a mount namespace no other process sees it. */
function canMount(): boolean {
  try {
    execFileSync('unshare', ['--mount', 'mount', '-t', 'tmpfs', 'tmpfs', tmpdir()], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

describe('a full disk', () => {
  it.runIf(canMount())(
    'under audit and log file: requests get their answers, health is degraded, all is well when space returns',
    async () => {
      const script = 'mount -t tmpfs -o size=256k tmpfs "$1" && exec "$2" --input-type=module -e "$3"';
      const args = ['--mount', 'sh', '-c', script, 'sh', dir, process.execPath, fullDiskTrial()];
      const { stdout, stderr } = await promisify(execFile)('unshare', args, { timeout: 60_000 });
      const seen = JSON.parse(stdout.trim().split('\n').at(-1) ?? '');
      expect(seen).toMatchObject({
        statuses: [200],
        degraded: ['audit', 'log'],
        healthyAgain: [],
        chain: { ok: true, problems: [] },
        lastIsThere: true,
      });
      expect(stderr.match(/cannot write the log file: ENOSPC/g)).toHaveLength(1);
      expect(stderr.match(/log file writable again/g)).toHaveLength(1);
      expect(stderr).toMatch(/cannot write the audit log: ENOSPC/);
    },
    60_000,
  );

  it.runIf(canMount())('leaves a gap record for records that waited when the server was killed', async () => {
    const script = `mount -t tmpfs -o size=128k tmpfs "$1"
      "$2" --input-type=module -e "$3"
      rm "$1/ballast"
      "$2" --input-type=module -e "$4"`;
    const opened = `
      import { writeFileSync } from 'node:fs';
      import { AuditLog } from ${module('../../workspace/audit/audit-log.ts')};
      import { verifiableLog } from ${module('../../workspace/audit/verifiable-log.ts')};
      import { checkAuditLog } from ${module('../../workspace/audit/audit-check.ts')};
      const folder = ${JSON.stringify(dir)};
      const event = { ...${JSON.stringify(event)}, details: { text: 'x'.repeat(5000) } };
      const settings = { enabled: true, file: '', events: ['api_access'] };
      const silent = () => undefined;
      const log = new AuditLog({ folder, settings, onFault: silent, onRecovery: silent, onGap: silent });
      await log.check();`;
    const doomed = `${opened}
      await log.record(event);
      try { writeFileSync(folder + '/ballast', Buffer.alloc(1_000_000)); } catch {}
      for (let n = 0; n < 7; n++) await log.record(event);
      process.kill(process.pid, log.fault === null ? 'SIGTERM' : 'SIGKILL');`;
    const next = `${opened}
      const { files, ...known } = verifiableLog({ folder, file: null });
      console.log(JSON.stringify([log.gap, await checkAuditLog(files, known)]));
      await log.close();`;
    const args = ['--mount', 'sh', '-c', script, 'sh', dir, process.execPath, doomed, next];
    const { stdout } = await promisify(execFile)('unshare', args);
    const [gap, report] = JSON.parse(stdout);
    // How many fit before the disk is full depends on the file system.
    expect(gap).toMatch(/the audit log has a gap: [4-7] records could not be written and were lost, since 2/);
    expect(report).toMatchObject({ ok: true, gaps: [{ reason: expect.stringContaining('were lost') }] });
  });
});

/** URL of a file of this project, as JSON text. */
function module(name: string): string {
  return JSON.stringify(new URL(name, import.meta.url).href);
}

function fullDiskTrial(): string {
  return `
    import { rmSync, writeFileSync } from 'node:fs';
    import { setTimeout as sleep } from 'node:timers/promises';
    import { openService } from ${module('../fixtures/service.ts')};
    import { checkAuditLog } from ${module('../../workspace/audit/audit-check.ts')};
    const dir = ${JSON.stringify(dir)};
    const file = dir + '/audit.log';
    const service = await openService({ 'logging.audit.enabled': true, 'logging.audit.file': file,
      'logging.output': 'file', 'logging.file.path': dir + '/portolan.log', 'logging.level': 'debug' });
    const statuses = new Set();
    const call = async (id) => {
      const response = await service.app.inject({ url: '/api/v1/version', headers: { 'x-request-id': id } });
      statuses.add(response.statusCode);
    };
    const failing = async () => {
      const { checks } = (await service.app.inject({ url: '/api/v1/health' })).json();
      return checks.map(({ name }) => name).filter((name) => ['audit', 'log'].includes(name)).sort();
    };
    await call('before');
    try { writeFileSync(dir + '/ballast', Buffer.alloc(1_000_000)); } catch {}
    for (let n = 0; n < 50; n++) await call('full' + n);
    let degraded = [];
    for (let n = 0; n < 100 && degraded.length < 2; n++) {
      await sleep(50);
      degraded = await failing();
    }
    rmSync(dir + '/ballast');
    await sleep(2500);
    await call('after');
    await sleep(200);
    await call('last');
    let healthyAgain = degraded;
    for (let n = 0; n < 100 && healthyAgain.length > 0; n++) {
      await sleep(50);
      healthyAgain = await failing();
    }
    await service.close();
    const { readFileSync } = await import('node:fs');
    const text = readFileSync(file, 'utf8');
    const chain = await checkAuditLog([file]);
    console.log(JSON.stringify({ statuses: [...statuses], degraded, healthyAgain, chain,
      lastIsThere: text.includes('"last"') && text.includes('"full49"') }));`;
}
