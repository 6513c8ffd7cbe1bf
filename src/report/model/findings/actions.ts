import { findingClasses, noFindings } from '../../../domain/finding.ts';
import type { Urgency } from '../../../domain/finding-order.ts';
import { parseCpe } from '../../../knowledge/products/cpe.ts';
import { Allowance, BoundedMap, oneLine, shortenedText } from '../bounded.ts';
import type { CurrentHost } from '../inventory/current-host.ts';
import type { Action, FindingPlace } from '../report.ts';
import { fixAnchor } from '../report-text.ts';
import { countClass, noClasses } from './class-counts.ts';
import { type CountedKind, inReportOrder } from './kinds.ts';
import { PlaceList } from './places.ts';
import { byUrgency, reasonOf } from './ranking.ts';
import { type SeenFinding, worstSoFar } from './seen-finding.ts';
import { UpdateTarget } from './seen-versions.ts';

/** Actions of a report; the findings of further ones share one. */
export const maxActions = 5000;
/** Places of one action. */
const maxActionPlaces = 500;
/** Places of all actions. */
const maxAllPlaces = 100_000;
/** Longest text of an action, characters. */
const maxActionLength = 160;
/** Longest key of an action, characters. */
const maxKeyLength = 200;

/** What removes a finding. */
export interface NamedAction {
  key: string;
  text: string;
  update: boolean;
}

/** The action that a finding names; for older records and plugins it follows from the product or the remediation. */
export function remedyOf(finding: SeenFinding): NamedAction {
  const { action, cpe, product, remediation, title } = finding;
  if (action) {
    const { key, text, update } = action;
    return {
      key: shortenedText(key, maxKeyLength),
      text: oneLine(text, maxActionLength),
      update: update === true,
    };
  }
  const name = cpe === null ? null : parseCpe(cpe);
  if (name) {
    const key = shortenedText(`update ${name.vendor}:${name.product}`, maxKeyLength);
    // The service may be another product than the one with the flaw.
    const same = product?.toLowerCase().replaceAll(' ', '_').includes(name.product) ?? false;
    const shown = same && product !== null ? product : name.product.replaceAll('_', ' ');
    return { key, text: oneLine(`Update ${shown}`, maxActionLength), update: true };
  }
  const text = firstSentence(remediation) || oneLine(title, maxActionLength);
  return { key: `do ${text}`, text, update: false };
}

/** The version in `9.8p1 or later. Where` ends no sentence. */
function sentencesOf(text: string): string[] {
  return text.split(/(?<=[.!?])\s+(?=\p{Lu})/u);
}

/** Without its full stop. */
function firstSentence(text: string): string {
  const line = oneLine(text, 2 * maxActionLength);
  const end = /[.!?](?= |$)/.exec(line);
  return shortenedText(end ? line.slice(0, end.index) : line, maxActionLength);
}

/** One action while it is counted. */
export class CountedAction {
  readonly action: Action;
  readonly #named: NamedAction;
  readonly #kinds = new Set<CountedKind>();
  readonly #places: PlaceList;
  readonly #target = new UpdateTarget();
  /** The place that is being counted: findings of one port follow each other. */
  #place: FindingPlace | null = null;
  #lastHost = 0;
  #worst: Urgency | null = null;
  /** Exploited findings. */
  readonly exploited = noClasses();

  constructor(named: NamedAction, allowance: Allowance) {
    this.#named = named;
    this.#places = new PlaceList(maxActionPlaces, allowance);
    this.action = {
      rank: 0,
      anchor: '',
      key: named.key,
      text: named.text,
      reason: '',
      update: named.update,
      exploited: false,
      epss: null,
      cvss: null,
      hosts: 0,
      findings: 0,
      severities: noFindings(),
      class: 'possible',
      classes: noClasses(),
      remediation: '',
      backportNote: null,
      backported: 0,
      kinds: [],
      places: [],
      placesLeft: 0,
    };
  }

  add(finding: SeenFinding, place: FindingPlace, host: CurrentHost, kind: CountedKind | null): void {
    const { action } = this;
    this.#worst = worstSoFar(this.#worst, finding);
    action.findings += 1;
    action.severities[finding.severity] += 1;
    countClass(action.classes, finding.class);
    if (this.#lastHost !== host.number) action.hosts += 1;
    this.#lastHost = host.number;
    if (finding.exploited) countClass(this.exploited, finding.class);
    if (finding.epss !== null) action.epss = Math.max(action.epss ?? 0, finding.epss);
    if (finding.cvss !== null) action.cvss = Math.max(action.cvss ?? 0, finding.cvss.score);
    if (finding.backportNote !== null) action.backported += 1;
    this.#target.add(finding);
    if (kind) this.#kinds.add(kind);
    this.#addPlace(place);
  }

  #addPlace(place: FindingPlace): void {
    const open = this.#place;
    if (open?.host === place.host && open.port === place.port && open.protocol === place.protocol) {
      const first = findingClasses.find((name) => [open.class, place.class].includes(name));
      const surer = first === open.class ? open : place;
      this.#place = { ...surer, note: surer.note || open.note || place.note, seen: surer.seen ?? open.seen };
      return;
    }
    if (open) this.#places.add(open);
    this.#place = place;
  }

  /** Needs the finished kinds. */
  finish(): void {
    const { action } = this;
    if (this.#place) this.#places.add(this.#place);
    this.#place = null;
    action.exploited = this.exploited.all > 0;
    action.class = this.worst.class;
    action.kinds = [...this.#kinds].map(({ kind }) => kind).sort(inReportOrder);
    action.places = this.#places.items();
    action.placesLeft = this.#places.left;
    action.remediation = this.#remediation();
    action.backportNote = action.kinds.find((kind) => kind.backportNote !== null)?.backportNote ?? null;
    if (this.#named.update) action.text = updateText(this.#named, this.#target, action.backported > 0);
  }

  /**
   * What the first kind says. Of an update, the advice of the kind with the version that the update installs comes
   * first, and of the first kind all but the sentences about another version.
   */
  #remediation(): string {
    const remedied = this.action.kinds.filter(({ remediation }) => remediation !== '');
    const version = this.#target.fixed;
    const [first] = remedied;
    const last = remedied.find(({ versions }) => version !== null && versions?.fixed === version);
    if (!first || !last || last === first || !this.#named.update) return first?.remediation ?? '';
    const own = first.versions?.fixed ?? null;
    const more = sentencesOf(first.remediation).filter(
      (sentence) => !last.remediation.includes(sentence) && (own === null || !sentence.includes(own)),
    );
    return [last.remediation, ...more].join(' ');
  }

  /** Its worst finding. */
  get worst(): Urgency {
    return this.#worst as Urgency;
  }
}

/** The text of an update, with the version that it has to reach. */
export function updateText({ text }: NamedAction, target: UpdateTarget, backported: boolean): string {
  const to = target.text === '' ? '' : ` to ${target.text}`;
  const comma = target.text.endsWith('later') ? ',' : '';
  const fix = backported ? `${comma} or install the distribution's fix` : '';
  return `${text}${to}${fix}`;
}

/** What further findings share. */
export const otherActions: NamedAction = {
  key: '',
  text: 'Work through the findings that have further remedies',
  update: false,
};

/** All actions. */
export class ActionTable {
  readonly #actions = new BoundedMap<CountedAction>(maxActions);
  readonly #allowance = new Allowance(maxAllPlaces);
  #others: CountedAction | null = null;

  add(finding: SeenFinding, place: FindingPlace, host: CurrentHost, kind: CountedKind | null): CountedAction {
    const named = remedyOf(finding);
    const counted = this.#actions.at(named.key, () => new CountedAction(named, this.#allowance));
    const taker = counted ?? this.#otherActions();
    taker.add(finding, place, host, kind);
    return taker;
  }

  #otherActions(): CountedAction {
    this.#others ??= new CountedAction(otherActions, this.#allowance);
    return this.#others;
  }

  /** By urgency, after the kinds are finished; also notes in each kind its first action. */
  finish(): Action[] {
    const counted = [...this.#actions.values(), ...(this.#others ? [this.#others] : [])];
    for (const each of counted) each.finish();
    counted.sort(byUrgency);
    counted.forEach((each, index) => {
      const { action } = each;
      action.rank = index + 1;
      action.anchor = fixAnchor(action.rank);
      action.reason = reasonOf(each);
      for (const kind of action.kinds) kind.action ||= action.rank;
    });
    return counted.map(({ action }) => action);
  }
}
