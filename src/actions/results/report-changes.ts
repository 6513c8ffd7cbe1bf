import { type Finding, noFindings } from '../../domain/finding.ts';
import { countsAs, worstFirst } from '../../domain/finding-order.ts';
import type { Scan } from '../../domain/scan.ts';
import { parseCpe } from '../../knowledge/products/cpe.ts';
import type { ChangeItem, ReportChanges } from '../../report/model/changes.ts';
import type { ChangedPort, Comparison, ListedFinding, ListedPort, PortState } from './compare-scans.ts';
import type { Blindness } from './scan-coverage.ts';

/** Changes of findings that a report names; further ones are counted. */
const maxItems = 50;

/** Why an item of one scan says nothing about the other. */
const reasonTexts: Record<Blindness, string> = {
  out_of_scope: 'not among the targets of',
  partial: 'not reached in',
  port_not_planned: 'not among the ports of',
  not_evaluated: 'not evaluated in',
  record_damaged: 'lost from the damaged results of',
};

/** `not reached in this scan`. @param isThis whether the later of two scans could not find an item */
export function blindnessText(reason: Blindness, isThis: boolean): string {
  return `${reasonTexts[reason]} ${isThis ? 'this scan' : 'the earlier scan'}`;
}

/** The changes between two scans as a report has them: of limited size, whatever the size of the comparison is. */
export async function reportChanges(
  comparison: Comparison,
  { scan_id, completed_at, created_at }: Pick<Scan, 'scan_id' | 'completed_at' | 'created_at'>,
): Promise<ReportChanges> {
  const worst = new WorstChanges();
  const counts = { new: 0, fixed: 0 };
  const balance = noFindings();
  for (const sign of ['new', 'fixed'] as const) {
    const list = sign === 'new' ? 'vulnerabilities.new' : 'vulnerabilities.resolved';
    for await (const found of comparison.list(list)) {
      const listed = withCountedSeverity(found);
      counts[sign] += 1;
      balance[listed.vulnerability.severity] += sign === 'new' ? 1 : -1;
      worst.add({ sign, listed });
    }
  }
  const chosen = worst.list();
  const reasons = await Reasons.of(comparison, chosen);
  return {
    against: scan_id,
    at: completed_at ?? created_at,
    ...counts,
    unchanged: comparison.unchanged,
    unseen: await count(comparison.list('vulnerabilities.unseen')),
    balance,
    hostsAdded: await count(comparison.list('hosts.added')),
    hostsRemoved: await count(comparison.list('hosts.removed')),
    items: chosen.map((change) => itemOf(change, reasons)),
    itemsLeft: counts.new + counts.fixed - chosen.length,
    notComparable: await notComparable(comparison),
  };
}

function withCountedSeverity(listed: ListedFinding): ListedFinding {
  const { vulnerability } = listed;
  const severity = countsAs(vulnerability);
  return severity === vulnerability.severity
    ? listed
    : { ...listed, vulnerability: { ...vulnerability, severity } };
}

interface FindingChange {
  sign: ChangeItem['sign'];
  listed: ListedFinding;
}

/** The worst changes, new before fixed among equals. */
class WorstChanges {
  #changes: FindingChange[] = [];

  add(change: FindingChange): void {
    this.#changes.push(change);
    if (this.#changes.length >= 10 * maxItems) this.#changes = this.list();
  }

  list(): FindingChange[] {
    return worstFirst(this.#changes, ({ listed }) => listed.vulnerability).slice(0, maxItems);
  }
}

type Place = Pick<ListedFinding, 'host' | 'port' | 'protocol'>;

function keyOf({ host, port, protocol }: Place): string {
  return `${host} ${port}/${protocol}`;
}

/** What happened to the hosts and ports of some findings. */
class Reasons {
  readonly #ports = new Map<string, { before: PortState | null; after: PortState | null }>();
  readonly #hosts = new Map<string, string>();

  static async of(comparison: Comparison, changes: readonly FindingChange[]): Promise<Reasons> {
    const reasons = new Reasons();
    const ports = new Set(changes.map(({ listed }) => keyOf(listed)));
    const hosts = new Set(changes.map(({ listed }) => listed.host));
    const see = (
      port: ListedPort | ChangedPort,
      states: { before: PortState | null; after: PortState | null },
    ) => {
      if (ports.has(keyOf(port))) reasons.#ports.set(keyOf(port), states);
    };
    for await (const port of comparison.list('ports.added')) see(port, { before: null, after: port });
    for await (const port of comparison.list('ports.removed')) see(port, { before: port, after: null });
    for await (const port of comparison.list('ports.changed')) see(port, port);
    const note = (host: string, reason: string) => {
      if (hosts.has(host)) reasons.#hosts.set(host, reason);
    };
    for await (const host of comparison.list('hosts.added')) note(host, 'host appeared since');
    for await (const host of comparison.list('hosts.removed')) note(host, 'host is gone');
    for await (const { before, after } of comparison.list('hosts.moved')) {
      note(after, `host was ${before}`);
      note(before, `host is now ${after}`);
    }
    return reasons;
  }

  /** What is known of the service at a place, in the scan that has the finding. */
  stateOf({ sign, listed }: FindingChange): PortState | null {
    const states = this.#ports.get(keyOf(listed));
    return (sign === 'new' ? states?.after : states?.before) ?? null;
  }

  /** Empty if it is unknown. */
  why({ listed }: FindingChange): string {
    if (listed.by_new_check) return 'by a new check';
    const ofHost = this.#hosts.get(listed.host);
    if (ofHost !== undefined) return ofHost;
    const states = this.#ports.get(keyOf(listed));
    if (!states) return '';
    const { before, after } = states;
    if (before === null) return 'service appeared since';
    if (after === null) return 'port closed';
    return updateText(before, after);
  }
}

function updateText(before: PortState, after: PortState): string {
  if (before.product !== after.product) {
    const [was, is] = [before.product ?? before.service, after.product ?? after.service];
    return was && is && was !== is ? `${was} → ${is}` : 'service changed';
  }
  if (before.version !== after.version && before.version && after.version)
    return `updated ${before.version} → ${after.version}`;
  return 'service changed';
}

function itemOf(change: FindingChange, reasons: Reasons): ChangeItem {
  const { sign, listed } = change;
  const { host, port, protocol, vulnerability } = listed;
  const { id, title, severity } = vulnerability;
  const product = reasons.stateOf(change)?.product ?? productOf(vulnerability);
  return { sign, severity, id, title, product, host, port, protocol, why: reasons.why(change) };
}

function productOf({ cpe }: Finding): string | null {
  const name = cpe ? parseCpe(cpe) : null;
  return name?.product.replaceAll('_', ' ') ?? null;
}

async function count(items: AsyncIterable<unknown> | Iterable<unknown>): Promise<number> {
  let found = 0;
  for await (const _item of items) found += 1;
  return found;
}

/** By reason, most first, with the first item as an example. */
async function notComparable(comparison: Comparison): Promise<ReportChanges['notComparable']> {
  const found = new Map<string, { reason: string; count: number; example: string }>();
  for await (const { reason, host, port, protocol, missing_in } of comparison.list('not_comparable')) {
    const text = blindnessText(reason, missing_in === comparison.scan_id);
    const entry = found.get(text) ?? {
      reason: text,
      count: 0,
      example: port === null ? host : `${host}, ${port}/${protocol}`,
    };
    entry.count += 1;
    found.set(text, entry);
  }
  return [...found.values()].toSorted((a, b) => b.count - a.count);
}
