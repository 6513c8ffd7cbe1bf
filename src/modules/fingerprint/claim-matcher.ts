import type { Fingerprint } from '../../domain/service.ts';
import type { Banner } from '../../domain/text/banner.ts';
import { forEachItem } from '../../engine/each.ts';
import { LongWork } from '../../engine/long-work.ts';
import {
  type DataContext,
  defineModule,
  type ExecContext,
  type ModuleDefinition,
} from '../../engine/module.ts';
import type { EvidenceKind } from '../../knowledge/rules/claims.ts';

/** Options shared by all fingerprint modules. */
export const matcherOptions = {
  min_confidence: {
    Type: 'int',
    Description: 'Minimum confidence of a claim, in percent.',
    Default: 50,
    Min: 0,
    Max: 100,
  },
  rules: {
    Type: 'string',
    Description: 'YAML file with signatures to use in addition to the builtin ones; only without a server.',
    Default: '',
    IsFile: true,
  },
} as const;

interface MatcherSettings {
  kinds: readonly EvidenceKind[];
  /** Percent */
  minConfidence: number;
  rules: string;
  maxProtocols: number;
}

/** A fingerprint module with one kind of evidence. */
export function matcherModule(name: string, kind: EvidenceKind, description: string): ModuleDefinition {
  return defineModule({
    name,
    type: 'fingerprint',
    version: '1.0.0',
    description,
    options: matcherOptions,
    requires: ['banners'],
    provides: ['service_fingerprints'],
    async execute(ctx, data) {
      const { min_confidence: minConfidence, rules } = ctx.options;
      await matchBanners(ctx, data, { kinds: [kind], minConfidence, rules, maxProtocols: 1 });
    },
  });
}

/** Matches every banner against the catalog and publishes the record of a port if it is new or has improved. */
export async function matchBanners(
  ctx: Pick<ExecContext, 'signal' | 'log' | 'instanceId' | 'fingerprints'>,
  data: DataContext,
  settings: MatcherSettings,
): Promise<void> {
  const matcher = () => matcherOf(ctx, settings);
  // A bad file of rules fails the node in any case; the builtin ones are loaded for the first banner.
  let matching = settings.rules === '' ? null : matcher();
  await matching;
  const work = new LongWork();
  await forEachItem(ctx, data.stream<Banner>('banners'), { concurrency: 1 }, async (banner) => {
    if (work.isDue) await work.yield();
    matching ??= matcher();
    const record = (await matching)(banner);
    if (record) await data.append<Fingerprint>('service_fingerprints', record);
  });
}

/** Takes banners; returns the record of a port when it is new or has improved. */
async function matcherOf(
  ctx: Pick<ExecContext, 'fingerprints'>,
  { kinds, minConfidence, rules, maxProtocols }: MatcherSettings,
): Promise<(banner: Banner) => Fingerprint | null> {
  const [catalogue, { claimsOf, PortClaims }] = await Promise.all([
    ctx.fingerprints(rules),
    import('../../knowledge/rules/claims.ts'),
  ]);
  const ports = new PortClaims({ minConfidence: minConfidence / 100, maxProtocols });
  return (banner) => {
    const { host, port, protocol, sites = [] } = banner;
    const ofSites = sites.flatMap((site) =>
      claimsOf(site, catalogue, kinds).map((claim) => ({
        ...claim,
        evidence: `${site.name}: ${claim.evidence}`,
      })),
    );
    return ports.add({ host, port, protocol }, claimsOf(banner, catalogue, kinds), ofSites) ?? null;
  };
}
