/** Contents and sources of a generation: `manifest.json`, written last. */
export interface GenerationManifest {
  /** Version of the file format. */
  format: 1;
  generation: string;
  /** ISO 8601 UTC: the last successful import or sync. */
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
  /** Changes since `records.bin` was built, in separate files; absent without any. */
  newer?: {
    /** CVEs whose entries in `records.bin` are all superseded. */
    cves: number;
    /** Products of `shards.bin`. */
    base_products: number;
  };
  files: Record<string, { size: number; sha256: string }>;
}

/** State of one source (`nvd`, `cve5`, `overrides`, `kev`, `epss`, `fixes`). */
export interface SourceState {
  /** Its last import or sync. */
  updated_at: string;
  /** Publication time of its newest data; null = unknown. */
  data_date: string | null;
  /** All changes in NVD before this time are included; only a sync that got all pages advances it. */
  mark: string | null;
  /** Of the last download, for conditional requests. */
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
/** Later changes, which supersede the other files for the same CVEs. All or none exist. */
export const newerFiles = ['newer-records.bin', 'newer-shards.bin', 'newer-shards.idx'] as const;
export type GenerationFile = (typeof generationFiles)[number] | (typeof newerFiles)[number];

/** Maximum size of a manifest, bytes. */
export const maxGenerationManifestBytes = 4 * 1024 * 1024;
/** Maximum size of the file that names the current generation, bytes. */
export const maxPointerBytes = 1024;
/** Form of a generation's name. */
export const generationPattern = /^\d{8}T\d{6}Z-[0-9a-f]{6}$/;

/** @throws TypeError, SyntaxError for an invalid manifest */
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

/** What the data lacks, in one sentence; null = nothing. */
export function lacksOf({ cves, epss, fixes }: GenerationManifest['counts']): string | null {
  const missing = [
    ...(cves === 0 ? ['CVEs beside the builtin ones'] : []),
    ...(epss === 0 ? ['EPSS scores'] : []),
    ...(fixes === 0 ? ['fixes of distributions'] : []),
  ];
  if (missing.length === 0) return null;
  return `The data here has no ${missing.join(', no ')}: portolan vulndb sync fetches them.`;
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
