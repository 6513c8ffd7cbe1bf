import { type FindingGroup, FixList, type RankedFix } from '../../report/model/findings/fix-list.ts';
import { readFinding, type SeenFinding } from '../../report/model/findings/seen-finding.ts';
import type { MatchedMembers } from '../../workspace/record-index/matched-members.ts';
import { listOfText } from '../../workspace/record-index/record-index.ts';
import { type FindingVariant, readVariant } from '../../workspace/record-index/variant.ts';
import { type ListedFix, maxSample } from '../results/listed-fix.ts';
import type { FixesRequest, FixesResponse } from './index-requests.ts';
import type { OpenIndex } from './open-index.ts';
import type { Turns } from './turns.ts';

/** Variants read between two turns. */
const variantsPerTurn = 500;

/** All fixes of a query, ranked. */
interface RankedFixes {
  fixes: RankedFix[];
  /** The first hosts of each fix, by its number. */
  samples: number[][];
}

/** The fix list of the findings that satisfy a query, as a report ranks them. */
export async function rankFixes(
  open: OpenIndex,
  request: FixesRequest,
  turns: Turns,
): Promise<FixesResponse> {
  const { query, offset, limit } = request;
  const key = `fixes ${JSON.stringify(query)}`;
  const known = open.recall(key) as RankedFixes | undefined;
  const { fixes, samples } = known ?? (await rankedFixes(open, await open.matched(query, turns.next), turns));
  open.remember(key, { fixes, samples });
  const page = fixes.slice(offset, offset + limit);
  return { fixes: page.map((fix) => shownFix(open, fix, samples[fix.number] ?? [])), total: fixes.length };
}

async function rankedFixes(open: OpenIndex, matched: MatchedMembers, turns: Turns): Promise<RankedFixes> {
  const { findings } = open.index;
  const { values } = findings.texts.variant;
  const list = new FixList();
  const groups = await groupsOf(open, matched, list, turns);
  const hostOf = findings.numbers.host.values;
  const fixHosts = new HostCounts(list.fixes);
  const kindHosts = new HostCounts(list.kinds);
  const samples = Array.from({ length: list.fixes }, (): number[] => []);
  // Findings of one host follow each other.
  for (const finding of open.order.recordOrder('finding')) {
    if (matched.findings[finding] === 0) continue;
    const group = groups.get(values[finding] as number);
    const host = hostOf[finding] as number;
    if (!group) continue;
    kindHosts.add(group.kind, host);
    const sample = samples[group.fix];
    if (fixHosts.add(group.fix, host) && sample && sample.length < maxSample) sample.push(host);
  }
  await turns.next();
  return { fixes: list.finish(fixHosts.counts, kindHosts.counts), samples };
}

/** The groups of the matching findings, by the value of their variant in the column. */
async function groupsOf(
  { index }: OpenIndex,
  matched: MatchedMembers,
  list: FixList,
  turns: Turns,
): Promise<Map<number, FindingGroup>> {
  const { findings, pool } = index;
  const { values, dictionary } = findings.texts.variant;
  const counts = new Map<number, number>();
  for (let at = 0; at < findings.count; at++) {
    const value = values[at] as number;
    if (matched.findings[at] === 1) counts.set(value, (counts.get(value) ?? 0) + 1);
  }
  const groups = new Map<number, FindingGroup>();
  for (const [value, count] of counts) {
    const variant = readVariant(pool.text(dictionary?.[value] ?? value));
    groups.set(value, list.add(seenFinding(variant), count));
    if (groups.size % variantsPerTurn === 0) await turns.next();
  }
  return groups;
}

/** As a report reads a finding with these facts. */
function seenFinding(variant: FindingVariant): SeenFinding {
  const { cvss, epss, backported, action, product, ...same } = variant;
  return readFinding(
    {
      type: 'vulnerability',
      timestamp: '',
      host: '',
      port: null,
      protocol: null,
      vulnerability: {
        ...same,
        cvss: cvss === null ? null : { version: '', score: cvss, vector: '' },
        epss: epss === null ? null : { score: epss, percentile: 0 },
        detected: null,
        confidence: 0,
        backport_note: backported ? ' ' : null,
        ...(action && { action }),
        evidence: '',
        references: [],
        plugin: '',
      },
    },
    product,
  );
}

/** Counts different hosts by a number; those of one host follow each other. */
class HostCounts {
  readonly counts: Uint32Array;
  readonly #last: Int32Array;

  constructor(size: number) {
    this.counts = new Uint32Array(size);
    this.#last = new Int32Array(size).fill(-1);
  }

  /** @returns whether the host is new there */
  add(number: number, host: number): boolean {
    if (this.#last[number] === host) return false;
    this.#last[number] = host;
    this.counts[number] = (this.counts[number] as number) + 1;
    return true;
  }
}

function shownFix({ index }: OpenIndex, fix: RankedFix, hosts: readonly number[]): ListedFix {
  const { host, name } = index.hosts.texts;
  const { key, text, update, reason, severity, exploited, epss, cvss, findings } = fix;
  return {
    key,
    text,
    update,
    reason,
    severity,
    severity_counts: fix.severities,
    exploited,
    epss,
    cvss,
    class: fix.class,
    findings,
    hosts: fix.hosts,
    host_sample: hosts.map((number) => ({
      host: index.pool.text(host.get(number)),
      name: listOfText(index.pool.text(name.get(number)))[0] ?? null,
    })),
  };
}
