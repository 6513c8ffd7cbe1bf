import http from 'node:http';
import type { Config } from '../../config/schema.ts';

export const syncSources = ['nvd', 'kev', 'epss', 'debian', 'ubuntu', 'redhat', 'alpine'] as const;
export type SyncSource = (typeof syncSources)[number];
/** A source, or the folder of NVD's yearly files, from which the first sync reads. */
export type SourceName = SyncSource | 'nvd-files';
export type SourceUrls = { [name in SourceName]?: string | undefined };

/** Where the publishers have their files; those of NVD, KEV and EPSS are settings of their own. */
const publishers: SourceUrls = {
  'nvd-files': 'https://nvd.nist.gov/feeds/json/cve/2.0/',
  debian: 'https://security-tracker.debian.org/tracker/data/json',
  ubuntu: 'https://usn.ubuntu.com/usn-db/database.json',
  redhat: 'https://access.redhat.com/hydra/rest/securitydata/cve.json',
  alpine: 'https://secdb.alpinelinux.org/',
};
const publicNvd = 'services.nvd.nist.gov';

/** The address of each source: a mirror that `vulndb.sources` names, else its publisher. */
export function vulndbSources({ vulndb }: Pick<Config, 'vulndb'>): SourceUrls {
  const { nvd_url: nvd, kev_url: kev, epss_url: epss, sources } = vulndb;
  const named = sources.map((text) => [text.slice(0, text.indexOf('=')), text.slice(text.indexOf('=') + 1)]);
  const mirrors: SourceUrls = Object.fromEntries(named);
  // Another API than NVD's has no yearly files that are known here.
  const isPublic = new URL(mirrors.nvd ?? nvd).hostname === publicNvd;
  return { ...publishers, ...(isPublic ? {} : { 'nvd-files': undefined }), nvd, kev, epss, ...mirrors };
}

/** Requests go through the proxy that HTTPS_PROXY, HTTP_PROXY and NO_PROXY name, as long as the work lasts. */
export async function throughProxy<T>(work: () => Promise<T>): Promise<T> {
  const { setGlobalProxyFromEnv } = http as { setGlobalProxyFromEnv?: () => () => void };
  const restore = setGlobalProxyFromEnv?.();
  try {
    return await work();
  } finally {
    restore?.();
  }
}
