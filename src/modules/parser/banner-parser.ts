import type { ParsedService } from '../../domain/service.ts';
import type { Banner } from '../../domain/text/banner.ts';
import { forEachItem } from '../../engine/each.ts';
import { LongWork } from '../../engine/long-work.ts';
import type { DataContext, ExecContext } from '../../engine/module.ts';

/** Result of parsing a banner. */
export interface Parsed {
  service: string;
  attributes: Record<string, unknown>;
  truncated: boolean;
}

/** Parses every banner and publishes the result; a banner that makes the parser throw affects no other. */
export async function parseBanners(
  ctx: Pick<ExecContext, 'signal' | 'log' | 'instanceId'>,
  data: DataContext,
  parser: string,
  parse: (banner: Banner) => Parsed | null,
): Promise<void> {
  const work = new LongWork();
  await forEachItem(ctx, data.stream<Banner>('banners'), { concurrency: 1 }, async (banner) => {
    if (work.isDue) await work.yield();
    const parsed = parse(banner);
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
