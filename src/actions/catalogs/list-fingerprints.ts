import { type Banner, describeBytes } from '../../domain/text/banner.ts';
import { observe } from '../../knowledge/rules/evidence.ts';
import { builtinRules, RuleCatalog, type SignatureMatch } from '../../knowledge/rules/rule-catalog.ts';
import type { Signature } from '../../knowledge/signatures/signature.ts';
import type { LoadedFingerprints } from '../../scan-run/catalogs/load-fingerprints.ts';

/** A signature and its set; `builtin` for those of the program. */
export interface ListedSignature {
  set: string;
  signature: Signature;
}

export interface SignatureFilter {
  category?: string | undefined;
  /** Text contained in ID, product, vendor, service, evidence, description or a tag, case-insensitive. */
  search?: string | undefined;
}

/** The matching signatures in force, in order of precedence. */
export function listSignatures(
  loaded: LoadedFingerprints,
  { category, search }: SignatureFilter,
): ListedSignature[] {
  const wanted = search?.toLowerCase();
  return allSignatures(loaded).filter(
    ({ signature }) =>
      (category === undefined || signature.category === category) &&
      (wanted === undefined || wordsOf(signature).some((word) => word.toLowerCase().includes(wanted))),
  );
}

/** Every signature with this ID: several sets may have one. */
export function findSignature(loaded: LoadedFingerprints, id: string): ListedSignature[] {
  return allSignatures(loaded).filter(({ signature }) => signature.id === id);
}

function allSignatures({ sets }: LoadedFingerprints): ListedSignature[] {
  const installed = sets.flatMap(({ header, signatures }) =>
    signatures.map((signature) => ({ set: header.name, signature })),
  );
  return [...installed, ...builtinRules.signatures.map((signature) => ({ set: 'builtin', signature }))];
}

function wordsOf({ id, product, vendor, service, source, description, tags = [] }: Signature): string[] {
  return [id, product, vendor, service, source, description, ...tags].flatMap((word) => word ?? []);
}

export interface FingerprintStatistics {
  /** As in the results of a scan. */
  catalogue_version: string;
  signatures: number;
  products: number;
  examples: number;
  with_cpe: number;
  sets: {
    name: string;
    origin: string;
    source: string;
    installed_at: string | null;
    signatures: number;
    sha256: string | null;
  }[];
  by_category: Record<string, number>;
  by_evidence: Record<string, number>;
  /** Problems of skipped sets and files. */
  problems: string[];
}

export function fingerprintStatistics(loaded: LoadedFingerprints): FingerprintStatistics {
  const { catalogue, sets, problems } = loaded;
  const signatures = catalogue.signatures;
  const builtin = {
    name: 'builtin',
    origin: 'builtin',
    source: 'the program',
    installed_at: null,
    signatures: builtinRules.signatures.length,
    sha256: null,
  };
  return {
    catalogue_version: catalogue.version,
    signatures: signatures.length,
    products: new Set(
      signatures.flatMap(({ product, vendor }) => (product === null ? [] : [`${vendor} ${product}`])),
    ).size,
    examples: signatures.reduce((sum, { examples }) => sum + examples.length, 0),
    with_cpe: signatures.filter(({ cpe }) => cpe !== undefined).length,
    sets: [
      ...sets.map(({ header: { name, origin, source, installed_at, signatures: count, sha256 } }) => ({
        name,
        origin,
        source,
        installed_at: installed_at || null,
        signatures: count,
        sha256,
      })),
      builtin,
    ],
    by_category: countBy(signatures, ({ category }) => category ?? 'other'),
    by_evidence: countBy(signatures, ({ source }) => source),
    problems,
  };
}

function countBy(
  signatures: readonly Signature[],
  keyOf: (signature: Signature) => string,
): Record<string, number> {
  const counts = new Map<string, number>();
  for (const signature of signatures) counts.set(keyOf(signature), (counts.get(keyOf(signature)) ?? 0) + 1);
  return Object.fromEntries([...counts].sort(([a, b], [c, d]) => d - b || a.localeCompare(c)));
}

export interface SampleReport {
  /** Parsed sample: the text by evidence key. */
  evidence: Record<string, string>;
  matches: (SignatureMatch & { evidence: string })[];
}

/**
 * What the rules find in a sample. With `evidence` the bytes are the text of that key; without, they are the first
 * response of a service, parsed by every parser.
 */
export function trySample(
  rules: readonly Signature[],
  sample: Buffer,
  evidence: string | null,
): SampleReport {
  const catalogue = new RuleCatalog(rules);
  const texts = evidence === null ? evidenceOf(sample) : new Map([[evidence, sample.toString('latin1')]]);
  const matches = [...texts].flatMap(([key, text]) =>
    catalogue.match(key, text).map((match) => ({ ...match, evidence: key })),
  );
  return { evidence: Object.fromEntries(texts), matches: matches.sort((a, b) => b.certainty - a.certainty) };
}

function evidenceOf(sample: Buffer): Map<string, string> {
  const banner: Banner = {
    host: '192.0.2.1',
    port: 0,
    protocol: 'tcp',
    ...describeBytes(sample),
    probe: 'null',
    truncated: false,
    partial: false,
  };
  return observe(banner)?.evidence ?? new Map();
}
