import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Home } from '../cli/command.ts';
import { ServerProcess } from '../program.ts';

/**
 * Runs one scan on a server of its own whose scope becomes narrower in the middle. Prints when the reload was answered
 * (epoch seconds), and what the scan counted. Arguments: a submission as JSON, and what is denied.
 */
const [submission = '{}', denied = ''] = process.argv.slice(2);
// The namespace that it runs in leads nowhere else.
const server = new ServerProcess({ env: { SERVICE_SCANNER__SCOPE__ALLOW: '10.82.0.0/16,10.83.0.0/16' } });
const home = new Home();

function configure(text: string): void {
  const file = join(server.workspace, 'config', 'portolan.yaml');
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  writeFileSync(file, text, { mode: 0o600 });
}

try {
  configure('{}');
  await server.start();
  const scanId = await server.submit(JSON.parse(submission) as Record<string, unknown>);
  let percent = 0;
  while (percent < 15) {
    await sleep(100);
    ({ percent } = (await server.detail(scanId)).progress);
  }
  configure(`scanner: { scope: { deny: [${denied}] } }`);
  const reload = await home.run(['server', 'reload', '--workspace-dir', server.workspace]);
  const reloadedAt = Date.now() / 1000;
  if (reload.code !== 0) throw new Error(`reload: ${reload.stderr}`);
  const { warnings } = await server.waitForEnd(scanId);
  const { body } = await server.request(`/api/v1/scans/${scanId}/results`);
  const { coverage } = (body as { data: { summary: { coverage: unknown } } }).data.summary;
  console.log(JSON.stringify({ reloadedAt, warnings, coverage }));
} finally {
  await server.dispose();
  home.remove();
}
