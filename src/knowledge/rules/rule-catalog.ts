import { type CpeName, formatCpe } from '../products/cpe.ts';
import { certificateSignatures } from '../signatures/certificate.ts';
import { clusterServiceSignatures } from '../signatures/cluster-service.ts';
import { dataServiceSignatures } from '../signatures/data-service.ts';
import { databaseSignatures } from '../signatures/database.ts';
import { faviconSignatures } from '../signatures/favicon.ts';
import { fileTransferSignatures } from '../signatures/file-transfer.ts';
import { greetingSignatures } from '../signatures/greeting.ts';
import { infrastructureSignatures } from '../signatures/infrastructure.ts';
import { instrumentSignatures } from '../signatures/instrument.ts';
import { mailSignatures } from '../signatures/mail.ts';
import { mailAndChatSignatures } from '../signatures/mail-and-chat.ts';
import { mediaSignatures } from '../signatures/media.ts';
import { nameServerSignatures } from '../signatures/name-server.ts';
import { networkServiceSignatures } from '../signatures/network-service.ts';
import { operatingSystemSignatures } from '../signatures/operating-system.ts';
import { protocolSignatures } from '../signatures/protocol.ts';
import { remoteAccessSignatures } from '../signatures/remote-access.ts';
import { generalSignatures } from '../signatures/self-named.ts';
import type { Signature } from '../signatures/signature.ts';
import { webApplianceSignatures } from '../signatures/web-appliance.ts';
import { webApplicationSignatures } from '../signatures/web-application.ts';
import { webPartSignatures } from '../signatures/web-part.ts';
import { webServerSignatures } from '../signatures/web-server.ts';
import { catalogVersion } from './catalog-version.ts';
import { LiteralScan } from './literal-scan.ts';
import { requiredLiterals } from './literals.ts';
import { compileMatcher, type Matcher, matchInputLimit, type PatternMatch } from './matcher.ts';

/** The values that one signature extracted from one piece of evidence. */
export interface SignatureMatch {
  rule: string;
  /** Service name; null when the text does not identify the protocol. */
  service: string | null;
  product: string | null;
  vendor: string | null;
  version: string | null;
  cpe: string | null;
  revision: string | null;
  os: { family: string; distribution: string | null; version: string | null } | null;
  hardware: { type: string | null; vendor: string | null; product: string | null } | null;
  facts: Record<string, string>;
  /** 0..1 */
  certainty: number;
  /** The matched text. */
  text: string;
}

/** Maximum length of a version, a revision or any other value, characters. */
export const valueLimit = 128;

/**
 * Maximum number of compiled patterns; one takes some 30 KB. Beyond, the least recently used one is dropped and
 * compiled again when needed.
 */
const maxCompiled = 1500;

/**
 * Maximum number of imported patterns tried on one text, those with the longest required text first. Real texts need a
 * few; a text that contains the words of hundreds of products names none of them.
 */
const maxCandidates = 64;

/** Signatures that read one kind of evidence. */
interface SourceIndex {
  signatures: Signature[];
  /** Signatures without a required text: always tried. */
  always: number[];
  scan: LiteralScan;
  /** Signatures by number of a required text. */
  byLiteral: number[][];
  /** Lengths of the required texts. */
  lengths: number[];
}

/** Signatures by the evidence that they read. A pattern is compiled when a text first needs it. */
export class RuleCatalog {
  readonly signatures: readonly Signature[];
  /** Version of the contents: the date of the builtin signatures and the names of the imported sets. */
  readonly version: string;
  readonly #bySource = new Map<string, Signature[]>();
  readonly #indexes = new Map<string, SourceIndex>();
  readonly #compiled = new Map<Signature, Matcher>();
  readonly #imported: ReadonlySet<Signature>;

  /** @param imported the signatures among them that are not builtin */
  constructor(
    signatures: readonly Signature[],
    version = catalogVersion,
    imported: readonly Signature[] = [],
  ) {
    this.signatures = signatures;
    this.version = version;
    this.#imported = new Set(imported);
    for (const signature of signatures) {
      const listed = this.#bySource.get(signature.source);
      if (listed) listed.push(signature);
      else this.#bySource.set(signature.source, [signature]);
    }
  }

  /** A catalog that has the signatures of another set before those of this one. */
  extendedBy(set: NamedSignatures): RuleCatalog {
    const signatures = [...set.signatures, ...this.signatures];
    return new RuleCatalog(signatures, `${this.version}+${set.version}`, [
      ...set.signatures,
      ...this.#imported,
    ]);
  }

  /** Every signature of the source that matches, most certain first. */
  match(source: string, text: string): SignatureMatch[] {
    const index = this.#indexOf(source);
    if (index === null) return [];
    const input = text.length > matchInputLimit ? text.slice(0, matchInputLimit) : text;
    const matches: SignatureMatch[] = [];
    for (const signature of this.#candidates(index, input)) {
      const found = this.#matcher(signature).match(input);
      if (found) matches.push(readMatch(signature, found));
    }
    return matches.sort((a, b) => b.certainty - a.certainty);
  }

  /** Candidates for the text, in the order of the catalog. */
  #candidates(index: SourceIndex, text: string): Signature[] {
    const lengths = new Map<number, number>();
    for (const position of index.always) lengths.set(position, 0);
    for (const literal of index.scan.find(text)) {
      const length = index.lengths[literal] ?? 0;
      for (const position of index.byLiteral[literal] ?? []) {
        lengths.set(position, Math.max(length, lengths.get(position) ?? 0));
      }
    }
    const positions = [...lengths.keys()];
    const isImported = (position: number) => this.#imported.has(index.signatures[position] as Signature);
    const imported = positions.filter(isImported);
    const own = positions.filter((position) => !isImported(position));
    if (imported.length > maxCandidates) {
      imported.sort((a, b) => (lengths.get(b) ?? 0) - (lengths.get(a) ?? 0) || a - b);
      imported.length = maxCandidates;
    }
    return [...own, ...imported]
      .sort((a, b) => a - b)
      .map((position) => index.signatures[position] as Signature);
  }

  #matcher(signature: Signature): Matcher {
    const matcher = this.#compiled.get(signature) ?? compileMatcher(signature.pattern, signature.flags);
    // Move to the end: the first key is the least recently used.
    this.#compiled.delete(signature);
    this.#compiled.set(signature, matcher);
    if (this.#compiled.size > maxCompiled) {
      const oldest = this.#compiled.keys().next().value;
      if (oldest !== undefined) this.#compiled.delete(oldest);
    }
    return matcher;
  }

  #indexOf(source: string): SourceIndex | null {
    const known = this.#indexes.get(source);
    if (known) return known;
    const signatures = this.#bySource.get(source);
    if (!signatures) return null;
    const index = indexOf(signatures);
    this.#indexes.set(source, index);
    return index;
  }
}

function indexOf(signatures: Signature[]): SourceIndex {
  const always: number[] = [];
  const byLiteral = new Map<string, number[]>();
  for (const [position, { pattern }] of signatures.entries()) {
    const literals = requiredLiterals(pattern);
    if (literals === null) always.push(position);
    for (const literal of literals ?? []) {
      const listed = byLiteral.get(literal);
      if (listed) listed.push(position);
      else byLiteral.set(literal, [position]);
    }
  }
  const literals = [...byLiteral.keys()];
  return {
    signatures,
    always,
    scan: new LiteralScan(literals),
    byLiteral: [...byLiteral.values()],
    lengths: literals.map(({ length }) => length),
  };
}

const builtinGroups: Record<string, readonly Signature[]> = {
  'remote-access': remoteAccessSignatures,
  web: [
    ...webServerSignatures,
    ...webApplicationSignatures,
    ...webApplianceSignatures,
    ...faviconSignatures,
    ...webPartSignatures,
  ],
  mail: [...mailSignatures, ...mailAndChatSignatures],
  greeting: greetingSignatures,
  'file-transfer': fileTransferSignatures,
  database: [...databaseSignatures, ...dataServiceSignatures],
  cluster: clusterServiceSignatures,
  'name-server': nameServerSignatures,
  infrastructure: infrastructureSignatures,
  certificate: certificateSignatures,
  protocol: [...protocolSignatures, ...networkServiceSignatures],
  media: mediaSignatures,
  instrument: instrumentSignatures,
  general: generalSignatures,
  'operating-system': operatingSystemSignatures,
};

const builtinSignatures: readonly Signature[] = Object.entries(builtinGroups).flatMap(
  ([category, signatures]) => signatures.map((signature) => ({ category, ...signature })),
);

/** The builtin signatures. */
export const builtinRules = new RuleCatalog(builtinSignatures);

/** Imported signatures, and their name in results. */
export interface NamedSignatures {
  /** E.g. `recog@4f1a22c0`. */
  version: string;
  signatures: readonly Signature[];
}

/** Extracts the values of a signature from a text that it matched. */
export function readMatch(signature: Signature, { text, groups }: PatternMatch): SignatureMatch {
  const fill = (template: string | null | undefined): string | null => fillTemplate(template, groups);
  const { os, hardware } = signature;
  return {
    rule: signature.id,
    service: signature.service,
    product: fill(signature.product),
    vendor: fill(signature.vendor),
    version: fill(signature.version),
    cpe: signature.cpe ? fillCpe(signature.cpe, fill) : null,
    revision: fill(signature.revision),
    os: os ? { family: os.family, distribution: fill(os.distribution), version: fill(os.version) } : null,
    hardware: hardware
      ? { type: fill(hardware.type), vendor: fill(hardware.vendor), product: fill(hardware.product) }
      : null,
    facts: fillFacts(signature.facts, fill),
    certainty: signature.certainty,
    text,
  };
}

type Fill = (template: string | null | undefined) => string | null;

function fillFacts(facts: Signature['facts'], fill: Fill): Record<string, string> {
  const filled: Record<string, string> = {};
  for (const [name, template] of Object.entries(facts ?? {})) {
    const value = fill(template);
    if (value !== null) filled[name] = value;
  }
  return filled;
}

/** Null when vendor or product stay unknown. */
function fillCpe(cpe: CpeName, fill: Fill): string | null {
  const vendor = fill(cpe.vendor);
  const product = fill(cpe.product);
  if (vendor === null || product === null) return null;
  const named = { part: cpe.part, vendor, product, version: fill(cpe.version), update: fill(cpe.update) };
  return formatCpe(withUpdate(named));
}

/** The CPE dictionary writes the patch level of OpenSSH, `9.2p1`, as an update. */
function withUpdate(cpe: CpeName): CpeName {
  if (cpe.product !== 'openssh' || cpe.update) return cpe;
  const [, version, update] = /^(\d+(?:\.\d+)*)(p\d+)$/.exec(cpe.version ?? '') ?? [];
  return version === undefined || update === undefined ? cpe : { ...cpe, version, update };
}

/** Substitutes groups for the `{name}` and `{1}` placeholders; null when the result is empty. */
function fillTemplate(template: string | null | undefined, groups: Map<string, string>): string | null {
  if (!template) return null;
  const text = template
    .replace(/\{([a-z_]+|\d{1,2})\}/g, (_, name: string) => groups.get(name) ?? '')
    .trim()
    .slice(0, valueLimit);
  return text === '' ? null : text;
}
