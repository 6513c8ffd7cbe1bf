import type { HostFinding } from '../src/domain/finding.ts';
import type { Banner } from '../src/domain/text/banner.ts';
import checker from '../src/modules/evaluation/misconfig_checker.ts';
import { tryModule } from './module-trial.ts';

/** Findings over banners as they are. */
export async function checkBanners(
  banners: readonly Banner[],
  config: Record<string, unknown> = {},
  inputs: Record<string, readonly unknown[]> = {},
): Promise<HostFinding[]> {
  const all = { service_fingerprints: [], banners, ...inputs };
  const { published } = await tryModule(checker, { inputs: all, config });
  return (published.get('vulnerabilities') ?? []) as HostFinding[];
}

/** No certificate of these tests is of a public authority, so what says that is left out. */
export async function findingIds(banners: readonly Banner[]): Promise<string[]> {
  return (await checkBanners(banners))
    .map(({ id }) => id)
    .filter((id) => id !== 'tls-cert-unknown-authority');
}
