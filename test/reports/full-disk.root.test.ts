import { execFile, execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { syntheticScan } from '../../src/report/fixtures/synthetic-scan.ts';
import { reportFormats } from '../../src/report/render-report.ts';
import { launcher } from '../cli/command.ts';
import { loopbackOnly } from '../program.ts';
import { recordScans } from '../recorded-scan.ts';

const run = promisify(execFile);

/** A small file system needs root; in a mount namespace no other process sees it. */
function canMount(): boolean {
  try {
    execFileSync('unshare', ['--mount', 'mount', '-t', 'tmpfs', 'tmpfs', tmpdir()], { stdio: 'ignore' });
    return true;
  } catch {
    console.log('skipped: full disk: mounting a small file system needs root');
    return false;
  }
}

const formats: readonly string[] = reportFormats;

describe.runIf(canMount())('a disk without space', () => {
  const scan = syntheticScan({ seed: 99, hosts: 60, findings: 600, kinds: 60 });
  let dir: string;

  beforeAll(async () => {
    dir = mkdtempSync(join(tmpdir(), 'portolan-full-report-'));
    mkdirSync(join(dir, 'small'));
    await recordScans(join(dir, 'ws'), [scan]);
  });

  afterAll(() => rmSync(dir, { recursive: true, force: true }));

  /** Runs a shell script in a namespace where `$small` has so much space, and `$@` is the command. */
  async function onSmallDisk(size: string, script: string, command: string[]): Promise<string> {
    const mount = `small=$1; shift; mount -t tmpfs -o size=${size} tmpfs "$small" && ${script}`;
    const { stdout } = await run(
      'unshare',
      ['--mount', 'sh', '-c', mount, 'sh', join(dir, 'small'), ...command],
      {
        env: { ...process.env, ...loopbackOnly, HOME: dir, XDG_CONFIG_HOME: dir },
        maxBuffer: 64 * 1024 * 1024,
      },
    );
    return stdout;
  }

  it.each(formats)('leaves no half report of `workspace export` as %s, and says why', async (format) => {
    const file = join(dir, 'small', `report.${format}`);
    const words = ['workspace', 'export', scan.facts.scan_id, '--format', format, '-o', file];
    const command = [process.execPath, launcher, ...words, '--workspace-dir', join(dir, 'ws')];
    const listing = 'code=$?; rm -f "$small/ballast"; echo "code $code"; ls -A "$small"';
    // A ticket is short: it would fit into the smallest disk that there is.
    const fill = format === 'markdown' ? 'cat /dev/zero >"$small/ballast" 2>/dev/null; ' : '';
    const full = await onSmallDisk('8k', `{ ${fill}"$@" 2>&1; ${listing}; }`, command);
    expect(full).toMatch(/full|space/i);
    expect(full).not.toMatch(/\n\s+at /);
    expect(full.trim().split('\n').at(-1)).toBe('code 1');
    // The same with space: what the disk prevented was the report.
    const roomy = await onSmallDisk('64m', `"$@" 2>&1; ${listing}`, command);
    expect(roomy).toContain(`code 0\nreport.${format}`);
  });

  it.each(formats.filter((format) => format !== 'markdown'))(
    'leaves no half report of %s_reporter, whose node fails',
    async (format) => {
      const script = 'exec "$@"';
      const command = (size: string) =>
        onSmallDisk(size, script, [process.execPath, '--input-type=module', '-e', reporterSource(format)]);
      const full = JSON.parse(await command('8k'));
      expect(full).toEqual({ failed: true, message: expect.stringMatching(/full|space/i), files: [] });
      expect(full.message).not.toContain(dir);
      expect(JSON.parse(await command('64m'))).toEqual({
        failed: false,
        message: null,
        files: [`results.${format}`],
      });
    },
  );

  /** Runs the reporter as the engine does, with a reports folder on the small disk. */
  function reporterSource(format: string): string {
    const module = (name: string) => JSON.stringify(new URL(name, import.meta.url).href);
    return `
      import { existsSync, readdirSync } from 'node:fs';
      import reporter from ${module(`../../src/modules/reporter/${format}_reporter.ts`)};
      import { syntheticScan } from ${module('../../src/report/fixtures/synthetic-scan.ts')};
      import { tryModule } from ${module('../module-trial.ts')};
      const { facts, rows } = syntheticScan({ seed: 99, hosts: 60, findings: 600, kinds: 60 });
      const reportsDir = ${JSON.stringify(join(dir, 'small', 'reports'))};
      const { scan_id, timestamp, partial, summary } = facts;
      const results = { scanId: scan_id, targets: facts.targets, request: facts.request, startedAt: facts.startedAt,
        stages: () => facts.stages, evaluated: true, reportsDir, failure: () => null, warnings: () => [], rows,
        summary: async () => ({ type: 'summary', timestamp, host: null, scan_id, status: 'completed', partial, ...summary }) };
      const error = await tryModule(reporter, { results }).then(() => null, (reason) => reason);
      const files = existsSync(reportsDir) ? readdirSync(reportsDir) : [];
      console.log(JSON.stringify({ failed: error !== null, message: error?.message ?? null, files }));`;
  }
});
