import type { ParsedService } from '../../domain/service.ts';
import { type Banner, responsesByName } from '../../domain/text/banner.ts';
import { forEachItem } from '../../engine/each.ts';
import { LongWork } from '../../engine/long-work.ts';
import type { DataContext, ExecContext } from '../../engine/module.ts';

/** Result of parsing a banner. */
export interface Parsed {
  service: string;
  attributes: Record<string, unknown>;
  truncated: boolean;
}

/**
 * Parses every banner and publishes the result; a banner that makes the parser throw affects no other. What the further
 * sites of a port showed is in `attributes.sites`.
 */
export async function parseBanners(
  ctx: Pick<ExecContext, 'signal' | 'log' | 'instanceId'>,
  data: DataContext,
  parser: string,
  parse: (banner: Banner) => Parsed | null,
): Promise<void> {
  const work = new LongWork();
  await forEachItem(ctx, data.stream<Banner>('banners'), { concurrency: 1 }, async (banner) => {
    if (work.isDue) await work.yield();
    const parsed = parseSites(banner, parse);
    if (!parsed) return;
    const { host, port, protocol } = banner;
    await data.append<ParsedService>('parsed_services', {
      host,
      port,
      protocol,
      service: parsed.service,
      parser,
      attributes: parsed.attributes,
      truncated: parsed.truncated || banner.truncated,
    });
  });
}

/** The result of a port with those of its further sites, by name. */
function parseSites(banner: Banner, parse: (banner: Banner) => Parsed | null): Parsed | null {
  const main = parse(banner);
  const named = [...responsesByName(banner)].filter(([name]) => name !== null);
  const sites = named.map(([name, responses]) => {
    const read = responses.map(parse).filter((each) => each !== null);
    const facts = read.reduce<Record<string, unknown>>(
      (known, { attributes }) => mergeFacts(known, attributes),
      { name },
    );
    return { service: read[0]?.service, facts };
  });
  const service = main?.service ?? sites.find((site) => site.service !== undefined)?.service;
  if (service === undefined || sites.length === 0) return main;
  const attributes = { ...main?.attributes, sites: sites.map(({ facts }) => facts) };
  return { service, attributes, truncated: main?.truncated ?? false };
}

/** Facts of several responses of one site: an icon adds to the page. */
function mergeFacts(known: Record<string, unknown>, more: Record<string, unknown>): Record<string, unknown> {
  const merged = { ...known };
  for (const [protocol, facts] of Object.entries(more))
    merged[protocol] = { ...(known[protocol] as object | undefined), ...(facts as object) };
  return merged;
}
