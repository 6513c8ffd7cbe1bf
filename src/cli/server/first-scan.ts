import { firstScanToken } from '../../actions/access/first-scan-token.ts';
import type { Config } from '../../config/schema.ts';
import { openStore } from '../../store/open.ts';
import { openWorkspace } from '../../workspace/workspace.ts';
import { fetchResult } from '../results/remote-result.ts';
import { resultStyle } from '../results/result-style.ts';
import { noteOutcome, openView } from '../scan/live/scan-view.ts';
import { awaitScan } from '../scan/remote-scan.ts';
import { Client } from '../session/client.ts';
import { acceptedShape } from '../session/server-responses.ts';
import type { GlobalFlags } from '../terminal/globals.ts';
import { note, print, writeResult } from '../terminal/output.ts';
import type { StartedServer } from '../wiring.ts';

const firstTarget = '127.0.0.1';

/**
 * First scan for new users: scans this machine through the API, shows the result and the next steps.
 * @throws the reason of `signal` when the server stops during the scan
 */
export async function runFirstScan(
  server: StartedServer,
  config: Config,
  global: GlobalFlags,
  signal: AbortSignal,
): Promise<void> {
  const token = await firstToken(config);
  const client = new Client({ url: server.url, token });
  const ui = uiAddress(server.url, config);
  if (ui !== null) note(`Web UI   ${ui}/`);
  note(
    `Portolan serves ${server.url}; scanning this machine (${firstTarget}) for open ports and vulnerabilities`,
  );
  let shown = ui;
  const view = openView({ ...global, progress: true });
  try {
    const submission = { targets: [firstTarget], profile: 'standard', vuln: true, name: 'first scan' };
    const { scan_id } = await client.call('POST', '/api/v1/scans', acceptedShape, submission);
    if (ui !== null) shown = `${ui}/scans/${scan_id}`;
    const scan = await awaitScan(client, scan_id, view, signal);
    view.end();
    noteOutcome(scan, global.quiet ?? false, { hasNotes: view.hasNotes, isText: true });
    await writeResult(null, fetchResult(client, scan, 'text', resultStyle(null, global), {}, { scan }));
  } finally {
    view.end();
  }
  print(nextSteps(server.url, token, shown));
}

/**
 * A token for one day, so that the printed command works whether the API requires one or not. Null without a
 * workspace: a temporary store cannot be shared.
 */
async function firstToken(config: Config): Promise<string | null> {
  if (!config.workspace.enabled) return null;
  const workspace = await openWorkspace(config.workspace.dir);
  const store = await openStore(config.queue.url ?? workspace.storeFile);
  try {
    return await firstScanToken(store);
  } finally {
    await store.close();
  }
}

/** Without a slash at its end; null when the server serves no UI. */
function uiAddress(url: string, { server }: Config): string | null {
  return server.ui.enabled ? `${url}${server.ui.path}` : null;
}

/** @param page of the scan in the Web UI; null without one */
function nextSteps(url: string, token: string | null, page: string | null): string {
  const header = token === null ? '' : `    -H 'Authorization: Bearer ${token}' \\\n`;
  const seen = page === null ? '' : `\nThis scan in the Web UI   ${page}\n`;
  return `${seen}
Scan something else${token === null ? '' : ' (the token is valid for 24 hours)'}:

  curl -X POST ${url}/api/v1/scans \\
${header}    -H 'Content-Type: application/json' \\
    -d '{"targets": ["${firstTarget}"], "profile": "quick"}'

Tutorial            docs/tutorial.md
API documentation   ${url}/api/v1/docs
OpenAPI 3.1         ${url}/api/v1/openapi.json

The server keeps running. Ctrl-C stops it.
`;
}
