import { execFile, execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { auditFiles } from '../workspace/audit-chain.ts';
import { checkAuditLog } from '../workspace/audit-check.ts';
import { type AuditEvent, AuditLog } from '../workspace/audit-log.ts';
import { openService } from './fixtures/service.ts';

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

describe('audit log', () => {
  const event: AuditEvent = {
    event: 'api_access',
    outcome: 'allowed',
    actor: { type: 'system', id: null, name: null },
    tenant: null,
    request: null,
    resource: null,
    details: {},
  };
  const open = (file: string, said: string[] = []) =>
    new AuditLog({
      folder: join(dir, 'audit'),
      settings: { enabled: true, file, events: ['api_access'] },
      onFault: (message) => said.push(message),
      onRecovery: (message) => said.push(message),
    });

  it('keeps what it cannot write, says so once, and writes it when it can', async () => {
    const file = join(dir, 'place', 'audit.log');
    mkdirSync(file, { recursive: true });
    const said: string[] = [];
    const log = open(file, said);
    for (let n = 0; n < 3; n++) await log.record({ ...event, details: { n } });
    expect([log.fault, said]).toEqual([
      'the audit log cannot be written: EISDIR',
      ['the audit log cannot be written: EISDIR'],
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

/** A file system of its own size needs root; in a mount namespace nobody else sees it. */
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
    'T-075 under audit and log file: requests get their answers, health is degraded, all is well when space returns',
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
      expect(stderr.match(/the log file cannot be written: ENOSPC/g)).toHaveLength(1);
      expect(stderr.match(/the log file is written again/g)).toHaveLength(1);
      expect(stderr).toMatch(/audit log cannot be written: ENOSPC/);
    },
    60_000,
  );
});

function fullDiskTrial(): string {
  const module = (name: string) => JSON.stringify(new URL(name, import.meta.url).href);
  return `
    import { rmSync, writeFileSync } from 'node:fs';
    import { setTimeout as sleep } from 'node:timers/promises';
    import { openService } from ${module('./fixtures/service.ts')};
    import { checkAuditLog } from ${module('../workspace/audit-check.ts')};
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
