import { type Banner, bannerBytes, tlsRejection } from '../../domain/text/banner.ts';
import { defineModule } from '../../engine/module.ts';
import { wantsTls } from '../../knowledge/probes/first-bytes.ts';
import { furtherNames } from '../../knowledge/probes/probes.ts';
import { parseTls } from '../../knowledge/protocols/tls.ts';
import { observedService } from '../../knowledge/rules/claims.ts';
import { type Parsed, parseBanners } from './banner-parser.ts';

export default defineModule({
  name: 'tls_parser',
  type: 'parser',
  version: '1.0.0',
  description: 'Parses protocol version, cipher, ALPN and certificates of TLS handshakes.',
  options: {},
  requires: ['banners'],
  provides: ['parsed_services'],
  async execute(ctx, data) {
    await parseBanners(ctx, data, 'tls_parser', (banner) => {
      if (furtherNames.has(banner.probe)) return null;
      if (!banner.tls) return rejectionOf(banner);
      const record = parseTls(banner.tls);
      const service = observedService(banner) ?? 'tls';
      return { service, attributes: { tls: record.facts }, truncated: record.truncated };
    });
  },
});

/** A server that rejected the handshake before it showed anything else. */
function rejectionOf(banner: Banner): Parsed | null {
  const error = banner.tls_error;
  if (!error?.startsWith(tlsRejection)) return null;
  if (banner.banner !== '' && !wantsTls(bannerBytes(banner))) return null;
  return { service: 'tls', attributes: { tls: { error } }, truncated: false };
}
