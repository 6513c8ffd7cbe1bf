import { type FindingClass, findingClasses, severities } from '../../../domain/finding.ts';
import { byId, byWorst, type Urgency } from '../../../domain/finding-order.ts';
import { Allowance, BoundedMap, DistinctCount, oneLine, shortenedText } from '../bounded.ts';
import type { CurrentHost } from '../inventory/current-host.ts';
import type { FindingKind, FindingPlace } from '../report.ts';
import { kindAnchor } from '../report-text.ts';
import { countClass, noClasses } from './class-counts.ts';
import { EvidenceList } from './evidence.ts';
import { NetworkList, PlaceList } from './places.ts';
import { kindKey, type SeenFinding } from './seen-finding.ts';
import { SeenVersions } from './seen-versions.ts';

/** Kinds of findings of one severity: a flood of harmless ones leaves room for the others. */
const maxKinds = 4000;
/** Kinds beyond the maximum that are counted separately. */
const maxCountedKinds = 100_000;
/** Places of one kind of finding. */
const maxKindPlaces = 500;
/** Places of all kinds. */
const maxAllPlaces = 100_000;
/** Networks of one kind. */
const maxKindNetworks = 40;
/** Characters of the evidence of all kinds. */
const maxEvidenceCharacters = 8_000_000;
/** Characters of the other texts of all kinds. */
const maxTextCharacters = 16_000_000;
/** Longest title, characters. */
const maxTitleLength = 300;
/** Longest remediation, note or affected range, characters. */
const maxTextLength = 4000;
/** The same once all kinds together have too many. */
const shortTextLength = 200;
/** References of a kind. */
const maxReferences = 20;
/** Longest reference, characters. */
const maxReferenceLength = 500;
/** Modules and plugins that found a kind. */
const maxFinders = 10;
/** Longest note on a place, characters. */
const maxNoteLength = 120;

/** What all kinds share. */
class KindAllowances {
  readonly places = new Allowance(maxAllPlaces);
  readonly evidence = new Allowance(maxEvidenceCharacters);
  readonly texts = new Allowance(maxTextCharacters);

  text(text: string): string {
    const length = Math.min(text.length, maxTextLength);
    return shortenedText(text, this.texts.take(length) ? maxTextLength : shortTextLength);
  }
}

/** One kind while it is counted. */
export class CountedKind {
  /** Complete after `finish`; the same object throughout. */
  readonly kind: FindingKind;
  readonly #places: PlaceList;
  readonly #networks = new NetworkList(maxKindNetworks);
  readonly #evidence: EvidenceList;
  readonly #versions = new SeenVersions();
  readonly #allowances: KindAllowances;
  #lastHost = 0;

  constructor({ id, severity, title, cpe }: SeenFinding, allowances: KindAllowances) {
    this.#allowances = allowances;
    this.#places = new PlaceList(maxKindPlaces, allowances.places);
    this.#evidence = new EvidenceList(allowances.evidence);
    this.kind = {
      anchor: '',
      id,
      title: oneLine(title, maxTitleLength),
      severity,
      exploited: false,
      epss: null,
      cvss: null,
      counts: noClasses(),
      hosts: 0,
      places: [],
      placesLeft: 0,
      networks: [],
      evidence: [],
      evidenceLeft: 0,
      versions: null,
      affected: null,
      cpe: cpe && shortenedText(cpe, maxReferenceLength),
      backportNote: null,
      backported: 0,
      remediation: '',
      references: [],
      foundBy: [],
      action: 0,
    };
  }

  add(finding: SeenFinding, place: FindingPlace, host: CurrentHost): void {
    const { kind } = this;
    countClass(kind.counts, finding.class);
    if (this.#lastHost !== host.number) kind.hosts += 1;
    this.#lastHost = host.number;
    this.#addScores(finding);
    this.#addTexts(finding);
    this.#places.add(place);
    this.#networks.add(host);
    this.#evidence.add(finding, { host: place.host, port: place.port, protocol: place.protocol });
    this.#versions.add(finding, host.number);
  }

  #addScores({ exploited, epss, cvss }: SeenFinding): void {
    const { kind } = this;
    kind.exploited ||= exploited;
    if (epss !== null) kind.epss = Math.max(kind.epss ?? 0, epss);
    if (cvss === null || (kind.cvss && kind.cvss.score >= cvss.score)) return;
    kind.cvss = {
      version: shortenedText(cvss.version, shortTextLength),
      score: cvss.score,
      vector: shortenedText(cvss.vector, maxReferenceLength),
    };
  }

  #addTexts({ affected, backportNote, remediation, references, foundBy }: SeenFinding): void {
    const { kind } = this;
    if (affected !== null) kind.affected ??= this.#allowances.text(affected);
    if (remediation !== '' && kind.remediation === '') kind.remediation = this.#allowances.text(remediation);
    if (backportNote !== null) {
      kind.backported += 1;
      kind.backportNote ??= this.#allowances.text(backportNote);
    }
    for (const reference of references) {
      if (kind.references.length >= maxReferences) break;
      // A cut address would lead nowhere.
      if (reference.length > maxReferenceLength || kind.references.includes(reference)) continue;
      if (this.#allowances.texts.take(reference.length)) kind.references.push(reference);
    }
    for (const finder of foundBy) {
      const name = shortenedText(finder, shortTextLength);
      if (kind.foundBy.length < maxFinders && !kind.foundBy.includes(name)) kind.foundBy.push(name);
    }
  }

  finish(): void {
    const { kind } = this;
    kind.places = this.#places.items();
    kind.placesLeft = this.#places.left;
    kind.networks = this.#networks.items();
    kind.evidence = this.#evidence.items;
    kind.evidenceLeft = this.#evidence.left;
    kind.versions = this.#versions.range();
  }
}

/** Where a finding was seen. */
export function placeOf(finding: SeenFinding, { host, name }: CurrentHost): FindingPlace {
  return {
    host,
    name,
    port: finding.port,
    protocol: finding.protocol,
    seen: finding.detected && oneLine(finding.detected, shortTextLength),
    class: finding.class,
    note: shortNote(finding.backportNote),
  };
}

/** The first clause of a note: `The host runs Debian 12`. The kind has the whole note. */
function shortNote(note: string | null): string {
  const line = oneLine(note ?? '', 4 * maxNoteLength);
  const end = /[:;.](?= |$)/.exec(line);
  return shortenedText(end ? line.slice(0, end.index) : line, maxNoteLength);
}

/** All kinds of findings. */
export class KindTable {
  readonly #bySeverity = new Map(
    severities.map((severity) => [severity, new BoundedMap<CountedKind>(maxKinds)]),
  );
  readonly #allowances = new KindAllowances();
  readonly #left = new DistinctCount(maxCountedKinds);
  #findingsLeft = 0;

  /** @returns null for a kind beyond the maximum */
  add(finding: SeenFinding, place: FindingPlace, host: CurrentHost): CountedKind | null {
    const kinds = this.#bySeverity.get(finding.severity);
    const counted = kinds?.at(finding.id, () => new CountedKind(finding, this.#allowances)) ?? null;
    if (counted === null) {
      this.#left.add(kindKey(finding));
      this.#findingsLeft += 1;
    }
    counted?.add(finding, place, host);
    return counted;
  }

  /** In the order of the report. */
  finish(): FindingKind[] {
    const kinds = [...this.#bySeverity.values()].flatMap((counted) => counted.values());
    for (const counted of kinds) counted.finish();
    const sorted = kinds.map(({ kind }) => kind).sort(inReportOrder);
    nameAnchors(sorted);
    return sorted;
  }

  get left(): { kinds: number; findings: number } {
    return { kinds: this.#left.count, findings: this.#findingsLeft };
  }
}

/** What the place of a kind of findings depends on. */
export type OrderedKind = Pick<FindingKind, 'id' | 'severity' | 'exploited' | 'epss' | 'hosts' | 'counts'> & {
  cvss: { score: number } | null;
};

/** Urgency of the findings of a kind that have a class; without one, of its worst. */
export function urgencyOfKind(kind: Omit<OrderedKind, 'id' | 'hosts'>, ofClass?: FindingClass): Urgency {
  const { severity, exploited, epss, cvss, counts } = kind;
  const worst = findingClasses.find((name) => counts[name] > 0) ?? 'possible';
  return { severity, exploited, epss, cvss: cvss?.score ?? null, class: ofClass ?? worst };
}

/** Worst first, then by hosts and ID. */
export function inReportOrder(a: OrderedKind, b: OrderedKind): number {
  return byWorst(urgencyOfKind(a), urgencyOfKind(b)) || b.hosts - a.hosts || byId(a.id, b.id);
}

/** The same ID may have several severities, and IDs may differ in characters that anchors cannot have. */
function nameAnchors(kinds: readonly FindingKind[]): void {
  const taken = new Set<string>();
  for (const kind of kinds) {
    const anchor = kindAnchor(kind.id);
    kind.anchor = anchor;
    for (let count = 2; taken.has(kind.anchor); count++) kind.anchor = `${anchor}.${count}`;
    taken.add(kind.anchor);
  }
}
