import { setImmediate } from 'node:timers/promises';
import type { Config } from '../../config/schema.ts';
import { PortolanError } from '../../domain/errors.ts';
import type { Finding } from '../../domain/finding.ts';
import type { Protocol } from '../../domain/host.ts';
import type { HostRow, PortRow, ResultRow, VulnerabilityRow } from '../../domain/result.ts';
import { isFinal, type Scan } from '../../domain/scan.ts';
import type { ModuleCatalog } from '../../scan-run/plan/plan-scan.ts';
import { openResults, type RecordObserver, storeObserver } from '../../scan-run/results/open-results.ts';
import type { Store } from '../../store/open.ts';
import { jsonText } from '../../workspace/record/row-line.ts';
import { compareRows } from '../../workspace/record/row-order.ts';
import type { RowRecord } from '../../workspace/record/scan-record.ts';
import { showScan } from '../scans/show-scan.ts';
import { type MovedHost, MovedHosts } from './moved-hosts.ts';
import { type Blindness, PlannedCoverage } from './scan-coverage.ts';

export interface CompareContext {
  store: Store;
  config: Config;
  catalogue: ModuleCatalog;
  /** Stays readable during the comparison. */
  recordOf(scan: Scan): Promise<RowRecord>;
  observer?: RecordObserver;
}

/** Compared state of a port. */
export interface PortState {
  state: string;
  service: string | null;
  product: string | null;
  version: string | null;
}

type Place = { host: string; port: number; protocol: Protocol };
export type ListedPort = Place & PortState;
export type ChangedPort = Place & { before: PortState; after: PortState };
export type ListedFinding = Pick<VulnerabilityRow, 'host' | 'port' | 'protocol'> & {
  vulnerability: Finding;
  /** Of a new one: the baseline did not have the check that found it. */
  by_new_check?: true;
};

/** A result of one scan that the other could not have found; a host alone stands for all its results. */
export interface NotComparable {
  host: string;
  port: number | null;
  protocol: Protocol | null;
  reason: Blindness;
  /** The scan whose silence means nothing. */
  missing_in: string;
}

/** The lists of a comparison, by their path in the response. */
export interface ChangeLists {
  'hosts.added': string;
  'hosts.removed': string;
  /** Removed hosts that reappear under an added address. */
  'hosts.moved': MovedHost;
  'ports.added': ListedPort;
  'ports.removed': ListedPort;
  'ports.changed': ChangedPort;
  'vulnerabilities.new': ListedFinding;
  'vulnerabilities.resolved': ListedFinding;
  /** Findings of the scan that the baseline could not have found. */
  'vulnerabilities.unseen': ListedFinding;
  not_comparable: NotComparable;
}
export type ChangeList = keyof ChangeLists;

/** Changes from the baseline scan `against` to the scan `scan_id`. */
export interface Comparison {
  scan_id: string;
  against: string;
  /** Findings of both scans. */
  unchanged: number;
  list<L extends ChangeList>(name: L): AsyncIterable<ChangeLists[L]> | Iterable<ChangeLists[L]>;
}

/** An item of one of the lists. */
type Change = { [L in ChangeList]: { list: L; item: ChangeLists[L] } }[ChangeList];

/** How long a comparison works before other work of the process has its turn, milliseconds. */
const longestStretch = 10;
/** Items of a list kept in memory; for a longer one both records are read again. */
const maxHeldItems = 10_000;

/**
 * Compares two finished scans of any size. Results that only one of them could have found are not comparable.
 * @param signal aborts the reading with its reason, that of the lists too
 * @throws PortolanError `not_found`, or `conflict` for a scan that has not finished
 */
export async function compareScans(
  context: CompareContext,
  scanId: string,
  against: string,
  signal?: AbortSignal,
): Promise<Comparison> {
  const after = await openSide(context, scanId);
  const before = await openSide(context, against);
  const held = new HeldChanges();
  const moves = new MovedHosts();
  const walk = (seen?: MovedHosts) => walkChanges(after, before, signal, seen);
  for await (const change of walk(moves)) held.add(change);
  for (const item of moves.hosts()) held.add({ list: 'hosts.moved', item });
  return {
    scan_id: scanId,
    against,
    unchanged: held.unchanged,
    list: (name) => held.list(name) ?? itemsOf(walk(), name),
  };
}

/**
 * The same in one pass, in address order: the items of all lists but `hosts.moved`, and a word for each finding of both
 * scans.
 */
export async function* eachChange(
  context: CompareContext,
  scanId: string,
  against: string,
  signal: AbortSignal,
): AsyncGenerator<Change | 'unchanged'> {
  yield* walkChanges(await openSide(context, scanId), await openSide(context, against), signal);
}

/** The lists of a comparison, as far as they are short. */
class HeldChanges {
  unchanged = 0;
  readonly #lists = new Map<ChangeList, unknown[]>();

  add(change: Change | 'unchanged'): void {
    if (change === 'unchanged') {
      this.unchanged++;
      return;
    }
    const items = this.#lists.get(change.list) ?? [];
    // One more than the maximum shows that the list is longer.
    if (items.length <= maxHeldItems) items.push(change.item);
    this.#lists.set(change.list, items);
  }

  /** Null for a list that is too long. */
  list<L extends ChangeList>(name: L): ChangeLists[L][] | null {
    const items = this.#lists.get(name) ?? [];
    return items.length > maxHeldItems ? null : (items as ChangeLists[L][]);
  }
}

async function* itemsOf<L extends ChangeList>(
  changes: AsyncIterable<Change | 'unchanged'>,
  name: L,
): AsyncGenerator<ChangeLists[L]> {
  for await (const change of changes) {
    if (change !== 'unchanged' && change.list === name) yield change.item as ChangeLists[L];
  }
}

/** One of the two scans. */
interface Side {
  coverage: PlannedCoverage;
  rows(): AsyncIterable<ResultRow>;
}

/** @returns the same scan @throws PortolanError `conflict` */
export function requireFinished(scan: Scan): Scan {
  const { scan_id, status } = scan;
  if (isFinal(status)) return scan;
  throw new PortolanError(
    'conflict',
    `The scan ${scan_id} is ${status}; only finished scans can be compared.`,
  );
}

async function openSide(context: CompareContext, id: string): Promise<Side> {
  const { store, config, catalogue } = context;
  const scan = await showScan(store, id);
  const request = await store.scans.request(id);
  if (request === null) throw new PortolanError('not_found', 'There is no such scan.');
  requireFinished(scan);
  const record = await context.recordOf(scan);
  const observer = context.observer ?? storeObserver(store);
  const results = await openResults(scan, record, observer);
  await results.close();
  const damaged = results.damage !== null;
  const catalogVersion = results.summary.catalogue_version;
  const coverage = await PlannedCoverage.of({
    scan,
    request,
    record,
    config,
    catalogue,
    damaged,
    catalogVersion,
  });
  return { coverage, rows: () => rowsOf(scan, record, observer, damaged) };
}

/**
 * Verified rows only.
 * @param damaged whether the record was damaged at the start
 * @throws PortolanError for damage since then: lost rows must not look like removed ones
 */
async function* rowsOf(
  scan: Scan,
  record: RowRecord,
  observer: RecordObserver,
  damaged: boolean,
): AsyncGenerator<ResultRow> {
  const results = await openResults(scan, record, observer);
  try {
    if (results.damage && !damaged) {
      if (!(await record.exists())) throw new PortolanError('not_found', 'There is no such scan.');
      throw new PortolanError('internal_error', results.damage.message);
    }
    yield* results.view.rows('none');
  } finally {
    await results.close();
  }
}

/** Iterates both records in parallel; memory does not grow with them. */
async function* walkChanges(
  after: Side,
  before: Side,
  signal?: AbortSignal,
  moves?: MovedHosts,
): AsyncGenerator<Change | 'unchanged'> {
  let host: HostComparison | null = null;
  let since = performance.now();
  for await (const pair of pairRows(after.rows(), before.rows())) {
    if (performance.now() - since > longestStretch) {
      await setImmediate();
      since = performance.now();
    }
    signal?.throwIfAborted();
    const address = pair.after?.host ?? pair.before?.host ?? '';
    if (host?.address !== address) {
      host = new HostComparison(address, after.coverage, before.coverage, pair);
      host.report(moves);
      yield* host.itself();
    }
    yield* host.compare(pair);
  }
}

interface RowPair {
  after: ResultRow | null;
  before: ResultRow | null;
}

/** Rows of one identity together, in the order of the records. Skips errors. */
async function* pairRows(
  after: AsyncIterable<ResultRow>,
  before: AsyncIterable<ResultRow>,
): AsyncGenerator<RowPair> {
  const left = withoutErrors(after);
  const right = withoutErrors(before);
  try {
    let [a, b] = [await nextRow(left), await nextRow(right)];
    while (a !== null || b !== null) {
      const order = a === null ? 1 : b === null ? -1 : compareRows(a, b);
      yield { after: order <= 0 ? a : null, before: order >= 0 ? b : null };
      if (order <= 0) a = await nextRow(left);
      if (order >= 0) b = await nextRow(right);
    }
  } finally {
    await Promise.all([left.return(undefined), right.return(undefined)]);
  }
}

async function* withoutErrors(rows: AsyncIterable<ResultRow>): AsyncGenerator<ResultRow> {
  for await (const row of rows) {
    if (row.type === 'host' || row.type === 'port' || row.type === 'vulnerability') yield row;
  }
}

async function nextRow(rows: AsyncGenerator<ResultRow>): Promise<ResultRow | null> {
  const { value, done } = await rows.next();
  return done ? null : value;
}

/** One host in both scans. Its own row, if any, comes before its other rows. */
class HostComparison {
  readonly address: string;
  readonly #after: PlannedCoverage;
  readonly #before: PlannedCoverage;
  readonly #rows: { after: HostRow | null; before: HostRow | null };
  /** Set if one scan has the host and the other could not have found it: then nothing of it is compared. */
  readonly #blind: NotComparable | null;
  /** The last port that only one scan could have found, as `22/tcp`. */
  #blindPort: string | null = null;
  /** The last port with the same service in both scans. */
  #samePort: string | null = null;

  constructor(address: string, after: PlannedCoverage, before: PlannedCoverage, first: RowPair) {
    this.address = address;
    this.#after = after;
    this.#before = before;
    this.#rows = { after: hostRow(first.after), before: hostRow(first.before) };
    this.#blind = this.#blindness();
  }

  #blindness(): NotComparable | null {
    const { after, before } = this.#rows;
    if ((after === null) === (before === null)) return null;
    const silent = after === null ? this.#after : this.#before;
    const reason = silent.blindToHost(after ?? before, this.address);
    if (reason === null) return null;
    return { host: this.address, port: null, protocol: null, reason, missing_in: silent.scanId };
  }

  /** Adds the identity of the host, so that it is recognized under another address. */
  report(moves: MovedHosts | undefined): void {
    moves?.see(this.#rows, this.#blind === null);
  }

  /** Changes of the host as a whole. */
  *itself(): Generator<Change> {
    const { after, before } = this.#rows;
    if (this.#blind) yield { list: 'not_comparable', item: this.#blind };
    else if (after && !before) yield { list: 'hosts.added', item: this.address };
    else if (before && !after) yield { list: 'hosts.removed', item: this.address };
  }

  *compare(pair: RowPair): Generator<Change | 'unchanged'> {
    const row = pair.after ?? pair.before;
    if (row === null) return;
    if (this.#blind) {
      if (pair.after?.type === 'vulnerability') yield unseen(pair.after);
      return;
    }
    if (row.type === 'port') yield* this.#port(pair as { after: PortRow | null; before: PortRow | null });
    if (row.type === 'vulnerability')
      yield* this.#finding(pair as { after: VulnerabilityRow | null; before: VulnerabilityRow | null });
  }

  *#port({ after, before }: { after: PortRow | null; before: PortRow | null }): Generator<Change> {
    if (after && before) {
      const states = { before: stateOf(before), after: stateOf(after) };
      if (sameState(states.before, states.after)) this.#samePort = `${after.port}/${after.protocol}`;
      else yield { list: 'ports.changed', item: { ...positionOf(after), ...states } };
      return;
    }
    const row = (after ?? before) as PortRow;
    const silent = after ? this.#before : this.#after;
    const own = after ? this.#rows.before : this.#rows.after;
    const reason = silent.blindToPort(own, row.port, row.protocol);
    if (reason) {
      this.#blindPort = `${row.port}/${row.protocol}`;
      yield this.#notComparable(reason, silent, row);
    } else {
      yield { list: after ? 'ports.added' : 'ports.removed', item: { ...positionOf(row), ...stateOf(row) } };
    }
  }

  *#finding(pair: {
    after: VulnerabilityRow | null;
    before: VulnerabilityRow | null;
  }): Generator<Change | 'unchanged'> {
    if (pair.after && pair.before) return yield 'unchanged';
    const { host, port, protocol, vulnerability } = (pair.after ?? pair.before) as VulnerabilityRow;
    const silent = pair.after ? this.#before : this.#after;
    const inBlindPort = this.#blindPort === `${port}/${protocol}`;
    const reason = inBlindPort ? null : silent.blindToFinding(vulnerability.severity);
    if (pair.after && (inBlindPort || reason)) yield unseen(pair.after);
    // The entry of the port stands for its findings.
    if (inBlindPort) return;
    if (reason) return yield this.#notComparable(reason, silent, { port, protocol });
    const item = { host, port, protocol, vulnerability };
    if (!pair.after) return yield { list: 'vulnerabilities.resolved', item };
    const isSame = this.#samePort === `${port}/${protocol}`;
    const isByNew = this.#before.lacksCheck(pair.after, this.#after, isSame);
    yield { list: 'vulnerabilities.new', item: { ...item, ...(isByNew && { by_new_check: true }) } };
  }

  #notComparable(
    reason: Blindness,
    silent: PlannedCoverage,
    { port, protocol }: Pick<VulnerabilityRow, 'port' | 'protocol'>,
  ): Change {
    const item = { host: this.address, port, protocol, reason, missing_in: silent.scanId };
    return { list: 'not_comparable', item };
  }
}

function unseen({ host, port, protocol, vulnerability }: VulnerabilityRow): Change {
  return { list: 'vulnerabilities.unseen', item: { host, port, protocol, vulnerability } };
}

function hostRow(row: ResultRow | null): HostRow | null {
  return row?.type === 'host' ? row : null;
}

function positionOf({ host, port, protocol }: PortRow): Place {
  return { host, port, protocol };
}

function stateOf({ state, service }: PortRow): PortState {
  const { name, product, version } = service ?? {};
  return { state, service: name ?? null, product: product ?? null, version: version ?? null };
}

function sameState(a: PortState, b: PortState): boolean {
  return a.state === b.state && a.service === b.service && a.product === b.product && a.version === b.version;
}

/** The comparison as the JSON object of the API, streamed. */
export async function* renderComparison(comparison: Comparison): AsyncGenerator<string> {
  const { scan_id, against, unchanged } = comparison;
  const list = (name: ChangeList) => renderList(comparison.list(name));
  yield `{"scan_id":${jsonText(scan_id)},"against":${jsonText(against)},"hosts":{"added":`;
  yield* list('hosts.added');
  yield ',"removed":';
  yield* list('hosts.removed');
  const moved = await Array.fromAsync(comparison.list('hosts.moved'));
  if (moved.length > 0) yield `,"moved":${jsonText(moved)}`;
  yield '},"ports":{"added":';
  yield* list('ports.added');
  yield ',"removed":';
  yield* list('ports.removed');
  yield ',"changed":';
  yield* list('ports.changed');
  yield '},"vulnerabilities":{"new":';
  yield* list('vulnerabilities.new');
  yield ',"resolved":';
  yield* list('vulnerabilities.resolved');
  yield `,"unchanged_count":${unchanged}},"not_comparable":`;
  yield* list('not_comparable');
  yield '}';
}

/** Items joined per piece of text. */
const itemsPerPiece = 200;

async function* renderList(items: AsyncIterable<unknown> | Iterable<unknown>): AsyncGenerator<string> {
  let piece = '[';
  let count = 0;
  for await (const item of items) {
    piece += count === 0 ? jsonText(item) : `,${jsonText(item)}`;
    if (++count % itemsPerPiece !== 0) continue;
    yield piece;
    piece = '';
  }
  yield `${piece}]`;
}
