import { execFile, execFileSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, it } from 'vitest';

const run = promisify(execFile);

/** Mounting a file system of limited size needs root; in a mount namespace no other process sees it. */
function canMount(): boolean {
  try {
    execFileSync('unshare', ['--mount', 'mount', '-t', 'tmpfs', 'tmpfs', tmpdir()], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'portolan-report-full-'));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

it.runIf(canMount())('a report that does not fit on the disk fails and leaves no half file', async () => {
  const script = 'mount -t tmpfs -o size=128k tmpfs "$1" && exec "$2" --input-type=module -e "$3"';
  const args = ['--mount', 'sh', '-c', script, 'sh', dir, process.execPath, source()];
  const { stdout } = await run('unshare', args);
  expect(JSON.parse(stdout)).toEqual({
    html_reporter: { error: 'ENOSPC', left: ['earlier.html'] },
    pdf_reporter: { error: 'ENOSPC', left: ['earlier.html'] },
    earlier: 'of an earlier run',
  });
});

/** Each reporter writes a report larger than the disk over an earlier one. */
function source(): string {
  const module = (path: string) => JSON.stringify(new URL(path, import.meta.url).href);
  return `
    import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
    import html_reporter from ${module('./html_reporter.ts')};
    import pdf_reporter from ${module('./pdf_reporter.ts')};
    import { syntheticScan } from ${module('../../report/fixtures/synthetic-scan.ts')};
    const reportsDir = ${JSON.stringify(join(dir, 'reports'))};
    mkdirSync(reportsDir);
    writeFileSync(reportsDir + '/earlier.html', 'of an earlier run');
    const { facts, rows } = syntheticScan({ hosts: 300 });
    const { scan_id, timestamp, status, partial, summary } = facts;
    const results = { ...facts, scanId: scan_id, reportsDir, templatesDir: null, rows,
      summary: async () => ({ type: 'summary', host: null, scan_id, timestamp, status, partial, ...summary }),
      failure: () => null, stages: () => facts.stages, warnings: () => facts.warnings };
    const seen = {};
    for (const definition of [html_reporter, pdf_reporter]) {
      const reporter = definition.create();
      await reporter.configure({ path: 'earlier.html' });
      const error = await reporter.execute({ results, signal: new AbortController().signal }, null).then(() => null, ({ code }) => code);
      seen[definition.name] = { error, left: readdirSync(reportsDir) };
    }
    console.log(JSON.stringify({ ...seen, earlier: readFileSync(reportsDir + '/earlier.html', 'utf8') }));
  `;
}
