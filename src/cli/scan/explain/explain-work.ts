import {
  type AtHand,
  explainFound,
  findEndpoint,
  type HostRows,
  hasEndpoint,
  type PortEndpoint,
} from '../../../actions/results/explain-port.ts';
import type { ProbePlan, Silence } from '../../../actions/results/explain-silence.ts';
import { type ScanSilence, scanSilence } from '../../../actions/results/scan-silence.ts';
import { type ListQuery, listScans } from '../../../actions/scans/list-scans.ts';
import { showScan } from '../../../actions/scans/show-scan.ts';
import type { Config } from '../../../config/schema.ts';
import { PortolanError } from '../../../domain/errors.ts';
import type { ListedScan } from '../../../domain/listed-scan.ts';
import type { Scan } from '../../../domain/scan.ts';
import { parseTargets } from '../../../domain/targets/target.ts';
import { loadFingerprints } from '../../../scan-run/catalogs/load-fingerprints.ts';
import { ScanVulnerabilities } from '../../../scan-run/catalogs/scan-vulnerabilities.ts';
import { openResults } from '../../../scan-run/results/open-results.ts';
import { damageNote } from '../../results/damage-warning.ts';
import { readRows, scanPath } from '../../results/remote-result.ts';
import type { Client } from '../../session/client.ts';
import { listOf, scanIn, scanOn } from '../../session/scan-choice.ts';
import { namedClient } from '../../session/server-choice.ts';
import type { ServerFlags } from '../../session/server-flags.ts';
import { scanShape, silenceShape } from '../../session/server-responses.ts';
import { loadModuleCatalog, readConfigQuietly, type Session, withStore } from '../../session/session.ts';
import { printable, printableJson } from '../../terminal/draw/printable.ts';
import { styleOf } from '../../terminal/draw/style.ts';
import type { GlobalFlags } from '../../terminal/globals.ts';
import { note, print } from '../../terminal/output.ts';
import type { CliWiring } from '../../wiring.ts';
import { storedRecord } from '../../workspace/local-record.ts';
import { type ExplainView, explanationText } from './explain-text.ts';
import { silenceText } from './silence-text.ts';

export type ExplainFlags = ServerFlags & { format: string };

/** Scans that are searched for an endpoint when no scan is named: in the workspace, and on a server, which sends all rows. */
const maxSearched = { here: 50, server: 10 };

/** What one scan knows of an endpoint. */
interface Found {
  scanId: string;
  rows: HostRows;
  config: Config;
  /** Why the record has nothing; null if it has something. */
  silence: Silence | null;
  probes: ProbePlan | null;
}

/** @param scanText null for the newest scan that knows the endpoint */
export async function explain(
  scanText: string | null,
  place: PortEndpoint,
  flags: ExplainFlags,
  global: GlobalFlags,
  wiring: CliWiring,
): Promise<void> {
  const client = await namedClient(flags, global);
  const found = client
    ? await searchServer(client, scanText, place, global)
    : await withStore(global, (session) => searchHere(session, scanText, place, wiring));
  const { scanId, rows, config, silence, probes } = found;
  const view: ExplainView = {
    style: styleOf(process.stdout, global),
    now: Date.now(),
    details: (global.verbosity ?? global.verbose ?? 0) > 0,
  };
  const isSilent = !hasEndpoint(rows, place);
  if (flags.format !== 'json' && isSilent && silence !== null && isTarget(silence)) {
    print(silenceText({ scanId, place, host: rows.host, silence, probes }, view));
    return;
  }
  const explanation = await withAtHand(config, async (atHand) => explainFound(scanId, rows, place, atHand));
  if (flags.format === 'json') print(printableJson(explanation));
  else if (place.port === null && explanation.ports.length === 0 && silence !== null)
    print(silenceText({ scanId, place, host: rows.host, silence, probes }, view));
  else print(explanationText(explanation, rows.host, place.port !== null, view));
}

function isTarget(silence: Silence): boolean {
  return silence.state !== 'not_tried' || silence.reason !== 'out_of_scope';
}

async function searchHere(
  session: Session,
  text: string | null,
  place: PortEndpoint,
  wiring: CliWiring,
): Promise<Found> {
  const { store } = session;
  const ids =
    text === null
      ? await candidates((await listScans(store, { limit: maxSearched.here })).scans, place, (id) =>
          showScan(store, id),
        )
      : [await scanIn(store, text)];
  return await firstThatKnows(ids, place, (id) => readHere(session, id, place, wiring));
}

async function readHere(
  session: Session,
  id: string,
  place: PortEndpoint,
  wiring: CliWiring,
): Promise<Found> {
  const { store, config } = session;
  const scan = await showScan(store, id);
  const record = await storedRecord(session, id);
  const results = await openResults(scan, record, damageNote(store));
  const rows = await findEndpoint(results.rows(), place).finally(() => results.close());
  const found = { scanId: id, rows, config, silence: null, probes: null };
  const request = await store.scans.request(id);
  if (request === null || (hasEndpoint(rows, place) && rows.ports.length > 0)) return found;
  const catalogue = await loadModuleCatalog(wiring, config);
  try {
    const input = { scan, request, record, config, catalogue, damaged: results.damage !== null };
    return { ...found, ...(await scanSilence(input, rows.host, place)) };
  } finally {
    await catalogue.release();
  }
}

async function searchServer(
  client: Client,
  text: string | null,
  place: PortEndpoint,
  global: GlobalFlags,
): Promise<Found> {
  const { config } = await readConfigQuietly(global);
  const query: ListQuery = { limit: maxSearched.server };
  const ids =
    text === null
      ? await candidates((await listOf(client)(query)).scans, place, (id) =>
          client.call('GET', scanPath(id), scanShape),
        )
      : [await scanOn(client, text)];
  return await firstThatKnows(ids, place, async (id) => {
    const lines = await client.download(`${scanPath(id)}/results?format=jsonl`);
    const rows = await findEndpoint(readRows(lines), place);
    const isSilent = !hasEndpoint(rows, place) || rows.ports.length === 0;
    const silence = isSilent ? await silenceOn(client, id, place) : null;
    return { scanId: id, rows, config, silence: null, probes: null, ...silence };
  });
}

/** Why a scan of a server has nothing about an endpoint; null where an older server does not say. */
async function silenceOn(client: Client, id: string, place: PortEndpoint): Promise<ScanSilence | null> {
  const query = new URLSearchParams({ host: place.host });
  if (place.port !== null) query.set('port', String(place.port));
  if (place.protocol !== null) query.set('protocol', place.protocol);
  try {
    return said(await client.call('GET', `${scanPath(id)}/explain?${query}`, silenceShape));
  } catch (error) {
    if (error instanceof PortolanError && error.code === 'not_found' && !silenceShape(error.details, ''))
      return said(error.details);
    throw error;
  }
}

function said({ silence, probes }: Partial<ScanSilence>): ScanSilence | null {
  return silence ? { silence, probes: probes ?? null } : null;
}

/** The first scan that tried the endpoint, else the first. @throws PortolanError `not_found` without any */
async function firstThatKnows(
  ids: readonly string[],
  place: PortEndpoint,
  read: (id: string) => Promise<Found>,
): Promise<Found> {
  let first: Found | null = null;
  for (const id of ids) {
    const found = await read(id);
    if (hasEndpoint(found.rows, place)) return found;
    if (found.silence !== null && found.silence.state !== 'not_tried') return found;
    first ??= found;
  }
  if (first) return first;
  throw new PortolanError('not_found', `no scan has ${place.host} among its targets`);
}

/** Ids of the scans whose targets may cover a host, newest first. */
async function candidates(
  scans: readonly ListedScan[],
  { host }: PortEndpoint,
  show: (scanId: string) => Promise<Scan>,
): Promise<string[]> {
  const found: string[] = [];
  for (const { scan_id, targets, targets_total } of scans) {
    const all = targets_total === undefined ? targets : (await show(scan_id)).targets;
    const { addresses, hostnames, namedNetworks } = parseTargets(all);
    if (hostnames.length + namedNetworks.length > 0 || addresses.has(host) || !/^[\d.:a-f]+$/i.test(host))
      found.push(scan_id);
  }
  return found;
}

/** Runs `work` with the local rules and vulnerability data. */
async function withAtHand<T>(config: Config, work: (atHand: AtHand) => Promise<T>): Promise<T> {
  const warn = (problem: string) => note(`warning: ${printable(problem)}`);
  const { catalogue, problems } = await loadFingerprints(config);
  problems.forEach(warn);
  const vulnerabilities = new ScanVulnerabilities(config, warn);
  try {
    return await work({ signatures: catalogue, vulnerabilities: await vulnerabilities.source() });
  } finally {
    vulnerabilities.close();
  }
}
