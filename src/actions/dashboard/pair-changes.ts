import { type Finding, noFindings, type Severity, type SeverityCounts } from '../../domain/finding.ts';
import { byWorst, countsAs, urgencyOf } from '../../domain/finding-order.ts';
import {
  type CompareContext,
  eachChange,
  type ListedFinding,
  type ListedPort,
  type NotComparable,
  type PortState,
} from '../results/compare-scans.ts';
import { blindnessText } from '../results/report-changes.ts';

/** What is different in a run of a series. */
export interface RunChanges {
  changes: {
    /** Findings. */
    new: number;
    fixed: number;
    /** Services that appeared, went, or are another product or version. */
    changed: number;
    /** Hosts, not or not completely comparable. */
    not_comparable: number;
  };
  /** New findings less fixed ones, where they count. */
  balance: SeverityCounts;
  stands_out: StandingOut;
}

/** The one thing that people should know of a run. */
export interface StandingOut {
  /** Null if it is no finding. */
  severity: Severity | null;
  text: string;
  exploited: boolean;
}

/** Longest text, characters. */
const maxText = 200;

/**
 * @param isCounted whether the findings of a host count in the balance
 * @param signal aborts with its reason
 * @throws PortolanError as of `compareScans`
 */
export async function runChanges(
  context: CompareContext,
  scanId: string,
  against: string,
  isCounted: (host: string) => boolean,
  signal: AbortSignal,
): Promise<RunChanges> {
  const sums = new ChangeSums(scanId, isCounted);
  for await (const change of eachChange(context, scanId, against, signal)) {
    if (change !== 'unchanged') sums.add(change);
  }
  return sums.finish();
}

type FoundChange = Exclude<
  ReturnType<typeof eachChange> extends AsyncGenerator<infer C> ? C : never,
  'unchanged'
>;

/** Takes changes in address order. */
class ChangeSums {
  readonly #scanId: string;
  readonly #changes = { new: 0, fixed: 0, changed: 0, not_comparable: 0 };
  readonly #balance = noFindings();
  #worst: { finding: Finding; text: string } | null = null;
  /** The first service that changed, and the first that appeared or went. */
  #changed: string | null = null;
  #moved: string | null = null;
  #lastHost: string | null = null;
  #blindness: string | null = null;

  readonly #isCounted: (host: string) => boolean;

  constructor(scanId: string, isCounted: (host: string) => boolean) {
    this.#scanId = scanId;
    this.#isCounted = isCounted;
  }

  add(change: FoundChange): void {
    switch (change.list) {
      case 'vulnerabilities.new':
        return this.#addNew(change.item);
      case 'vulnerabilities.resolved':
        this.#changes.fixed += 1;
        if (this.#isCounted(change.item.host)) this.#balance[countsAs(change.item.vulnerability)] -= 1;
        return;
      case 'ports.changed': {
        const { host, port, before, after } = change.item;
        this.#changes.changed += 1;
        this.#changed ??= `${changeText(before, after)} on ${host}, port ${port}`;
        return;
      }
      case 'ports.added':
      case 'ports.removed':
        return this.#addMoved(change.item, change.list === 'ports.added' ? 'appeared on' : 'is gone from');
      case 'not_comparable':
        return this.#addBlind(change.item);
    }
  }

  #addNew({ host, vulnerability, by_new_check }: ListedFinding): void {
    this.#changes.new += 1;
    if (this.#isCounted(host)) this.#balance[countsAs(vulnerability)] += 1;
    if (this.#worst && byWorst(urgencyOf(vulnerability), urgencyOf(this.#worst.finding)) >= 0) return;
    this.#worst = {
      finding: vulnerability,
      text: `${vulnerability.title} on ${host}${by_new_check ? ', by a new check' : ''}`,
    };
  }

  #addMoved({ host, port, ...state }: ListedPort, what: string): void {
    this.#changes.changed += 1;
    this.#moved ??= `${nameOf(state)} ${what} ${host}, port ${port}`;
  }

  /** Items of a host follow each other. */
  #addBlind({ host, reason, missing_in }: NotComparable): void {
    if (host !== this.#lastHost) this.#changes.not_comparable += 1;
    this.#lastHost = host;
    this.#blindness ??= blindnessText(reason, missing_in === this.#scanId);
  }

  finish(): RunChanges {
    return { changes: this.#changes, balance: this.#balance, stands_out: this.#standsOut() };
  }

  #standsOut(): StandingOut {
    if (this.#worst) return standingOut(this.#worst);
    const { fixed, not_comparable: hosts } = this.#changes;
    if (fixed > 0) return plain(`${fixed} ${fixed === 1 ? 'finding' : 'findings'} fixed`);
    const service = this.#changed ?? this.#moved;
    if (service !== null) return plain(service);
    if (this.#blindness === null) return plain('No change');
    return plain(`${hosts} ${hosts === 1 ? 'host was' : 'hosts were'} ${this.#blindness}`);
  }
}

function plain(text: string): StandingOut {
  return { severity: null, text: text.slice(0, maxText), exploited: false };
}

function standingOut({ finding, text }: { finding: Finding; text: string }): StandingOut {
  return { severity: countsAs(finding), text: text.slice(0, maxText), exploited: finding.kev === true };
}

function changeText(before: PortState, after: PortState): string {
  const [was, is] = [nameOf(before), nameOf(after)];
  if (was !== is) return `${was} became ${is}`;
  if (before.version !== after.version && before.version && after.version)
    return `${is} updated from ${before.version} to ${after.version}`;
  return `${is} changed`;
}

function nameOf({ product, service }: PortState): string {
  return product ?? service ?? 'a service';
}
