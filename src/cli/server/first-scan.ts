import { existsSync } from 'node:fs';
import { firstScanToken } from '../../actions/access/first-scan-token.ts';
import { requiresTokens } from '../../config/required-tokens.ts';
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
  print(nextSteps(server.url, token, ui, shown));
}

/** A token for one day; null where none is needed, and without a workspace: a temporary store cannot be shared. */
async function firstToken(config: Config): Promise<string | null> {
  if (!config.workspace.enabled || !requiresTokens(config)) return null;
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

/**
 * What to do next: the last two lines are a click and a command.
 * @param ui address of the Web UI; null without one
 * @param page of the scan in the Web UI
 */
function nextSteps(url: string, token: string | null, ui: string | null, page: string | null): string {
  const program = existsSync('bin/portolan') ? 'bin/portolan' : 'portolan';
  const variable = token === null ? '' : `SERVICE_API_TOKEN=${token} `;
  const facts = [
    ...(page === null ? [] : [['This scan', page]]),
    ['API', `${url}/api/v1/docs`],
    ['Tutorial', 'docs/tutorial.md'],
    ...(token === null ? [] : [['Token', `${token} (24 hours)`]]),
  ];
  return `
${facts.map(([name = '', value]) => `${name.padEnd(10)}${value}\n`).join('')}
The server keeps running; Ctrl-C stops it. Scan a network of yours, here or in another terminal:

${ui === null ? '' : `  ${ui}/scans/new\n`}  ${variable}${program} scan 192.168.1.0/24 --vuln
`;
}
