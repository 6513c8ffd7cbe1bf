import { setImmediate } from 'node:timers/promises';
import type { ParsedService } from '../../domain/service.ts';
import type { Banner } from '../../domain/text/banner.ts';
import { forEachItem } from '../../engine/each.ts';
import type { DataContext, ExecContext } from '../../engine/module.ts';

/** Result of parsing a banner. */
export interface Parsed {
  service: string;
  attributes: Record<string, unknown>;
  truncated: boolean;
}

/** Longest work without yielding to the event loop, milliseconds: other modules wait for the network meanwhile. */
const longestStretch = 20;

/** Parses every banner and publishes the result; a banner that makes the parser throw affects no other. */
export async function parseBanners(
  ctx: Pick<ExecContext, 'signal' | 'log' | 'instanceId'>,
  data: DataContext,
  parser: string,
  parse: (banner: Banner) => Parsed | null,
): Promise<void> {
  let since = performance.now();
  await forEachItem(ctx, data.stream<Banner>('banners'), { concurrency: 1 }, async (banner) => {
    if (performance.now() - since > longestStretch) {
      await setImmediate();
      since = performance.now();
    }
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
