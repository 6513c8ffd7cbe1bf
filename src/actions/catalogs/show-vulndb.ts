import { knownExploited } from '../../knowledge/vulndb/builtin/known-exploited.ts';
import { builtinCves, builtinEntries } from '../../knowledge/vulndb/builtin.ts';
import { readCurrentManifest } from '../../knowledge/vulndb/generation/generation-pointer.ts';
import { type GenerationManifest, lacksOf } from '../../knowledge/vulndb/generation/manifest.ts';

/** The vulnerability data in use: counts of the imported data, or of the builtin catalog without any. */
export interface VulndbState {
  /** Of the imported data, else of the builtin catalog. */
  catalogue_version: string;
  cve_count: number;
  kev_count: number;
  epss_count: number;
  /** Fix statements of distributions. */
  fix_count: number;
  /** What the data lacks, and the command that fetches it; null = nothing. */
  lacks: string | null;
  /** The last import or sync. */
  synced_at: string | null;
  sources: string[];
  /** Required notices for the data. */
  notices: string[];
}

/** Wording required by NVD wherever its data is shown. */
const nvdNotice = 'This product uses data from the NVD API but is not endorsed or certified by the NVD.';
const epssNotice = 'EPSS scores come from FIRST (https://www.first.org/epss).';

const distributions = ['debian', 'ubuntu', 'redhat', 'alpine'];
const fixesNotice =
  'Fixes come from the Debian security tracker, Ubuntu security notices, Red Hat security data and Alpine secdb.';

/** @throws PortolanError `conflict` if the imported data is damaged */
export function showVulndb(dir: string): VulndbState {
  return stateOf(readCurrentManifest(dir));
}

export function stateOf(manifest: GenerationManifest | null): VulndbState {
  // A source may have several files, each with a state of its own.
  const names = [...new Set(Object.keys(manifest?.sources ?? {}).map((key) => key.split('/', 1)[0] ?? key))];
  return {
    catalogue_version: manifest?.generation ?? builtinCves.version,
    cve_count: manifest?.counts.cves ?? builtinEntries.length,
    kev_count: manifest?.counts.kev ?? knownExploited.size,
    epss_count: manifest?.counts.epss ?? 0,
    fix_count: manifest?.counts.fixes ?? 0,
    lacks: manifest ? lacksOf(manifest.counts) : builtinCves.lacks,
    synced_at: manifest?.created_at ?? null,
    sources: ['builtin', ...names.toSorted()],
    notices: [
      ...(names.includes('nvd') ? [nvdNotice] : []),
      ...(names.includes('epss') ? [epssNotice] : []),
      ...(distributions.some((name) => names.includes(name)) ? [fixesNotice] : []),
    ],
  };
}

/** Milliseconds since the last import or sync; null if there was none. @throws PortolanError `conflict` */
export function vulndbAge(dir: string, now = Date.now()): number | null {
  const manifest = readCurrentManifest(dir);
  return manifest && now - Date.parse(manifest.created_at);
}
