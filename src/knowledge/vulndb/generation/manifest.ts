/** What a generation holds and where it came from: `manifest.json`, written last. */
export interface GenerationManifest {
  /** Form of the files. */
  format: 1;
  generation: string;
  /** ISO 8601 UTC: the last import or sync that succeeded. */
  created_at: string;
  /** The last sync; null when all was imported from files. */
  synced_at: string | null;
  counts: {
    cves: number;
    /** Withdrawn by their authors; among `cves`. */
    rejected: number;
    products: number;
    kev: number;
    epss: number;
    /** Statements of distributions about a CVE. */
    fixes: number;
  };
  sources: Record<string, SourceState>;
  distributions: { distribution: string; release: string; statements: number }[];
  /** What was changed since `records.bin` was made stands in files of its own; absent when nothing was. */
  newer?: {
    /** CVEs of which nothing in `records.bin` holds any more. */
    cves: number;
    /** Products of `shards.bin`. */
    base_products: number;
  };
  files: Record<string, { size: number; sha256: string }>;
}

/** What is known of one source (`nvd`, `cve5`, `overrides`, `kev`, `epss`, `fixes`). */
export interface SourceState {
  /** The last import or sync of it. */
  updated_at: string;
  /** When its publisher made the newest of it; null when that is not known. */
  data_date: string | null;
  /** Everything that NVD changed before this time is there; only a sync that got all pages moves it. */
  mark: string | null;
  /** Of the last download, for a question whether there is anything new. */
  etag: string | null;
  last_modified: string | null;
}

/** Files of a generation beside its manifest. */
export const generationFiles = [
  'records.bin',
  'shards.bin',
  'shards.idx',
  'kev.json',
  'epss.bin',
  'fixes.json',
] as const;
/** What came since the others were made: in force instead of what they say of the same CVEs. All or none are there. */
export const newerFiles = ['newer-records.bin', 'newer-shards.bin', 'newer-shards.idx'] as const;
export type GenerationFile = (typeof generationFiles)[number] | (typeof newerFiles)[number];

/** Largest manifest and pointer that are read. */
export const maxGenerationManifestBytes = 4 * 1024 * 1024;
export const maxPointerBytes = 1024;
/** Form of the name of a generation. */
export const generationPattern = /^\d{8}T\d{6}Z-[0-9a-f]{6}$/;

/** @throws TypeError, SyntaxError when the text is no manifest of this form */
export function readGenerationManifest(text: string): GenerationManifest {
  const value = JSON.parse(text) as Partial<GenerationManifest> | null;
  if (value?.format !== 1) throw new TypeError('its format is unknown to this version');
  const { generation, counts, sources, files, distributions, newer } = value;
  const whole =
    typeof generation === 'string' &&
    generationPattern.test(generation) &&
    isTime(value.created_at) &&
    (value.synced_at === null || isTime(value.synced_at)) &&
    isMap(counts, isCount) &&
    ['cves', 'rejected', 'products', 'kev', 'epss', 'fixes'].every((name) => name in counts) &&
    isMap(sources, isSource) &&
    isMap(files, isFile) &&
    generationFiles.every((name) => name in files) &&
    newerFiles.every((name) => name in files === (newer !== undefined)) &&
    (newer === undefined || (isCount(newer?.cves) && isCount(newer?.base_products))) &&
    Array.isArray(distributions) &&
    distributions.every(isDistribution);
  if (!whole) throw new TypeError('a member is missing or has the wrong type');
  return value as GenerationManifest;
}

function isTime(value: unknown): boolean {
  return typeof value === 'string' && !Number.isNaN(Date.parse(value));
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function isMap<T extends object>(value: T | undefined, isMember: (value: unknown) => boolean): value is T {
  return typeof value === 'object' && value !== null && Object.values(value).every(isMember);
}

function isSource(value: unknown): boolean {
  const source = (value ?? {}) as Record<string, unknown>;
  const texts = ['data_date', 'mark', 'etag', 'last_modified'];
  return (
    isTime(source['updated_at']) &&
    texts.every((name) => source[name] === null || typeof source[name] === 'string')
  );
}

function isFile(value: unknown): boolean {
  const { size, sha256 } = (value ?? {}) as Record<string, unknown>;
  return isCount(size) && typeof sha256 === 'string' && /^[0-9a-f]{64}$/.test(sha256);
}

function isDistribution(value: unknown): boolean {
  const { distribution, release, statements } = (value ?? {}) as Record<string, unknown>;
  return typeof distribution === 'string' && typeof release === 'string' && isCount(statements);
}
