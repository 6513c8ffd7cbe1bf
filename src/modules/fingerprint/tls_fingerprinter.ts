import { defineModule } from '../../engine/module.ts';
import { matchBanners, matcherOptions } from './claim-matcher.ts';

export default defineModule({
  name: 'tls_fingerprinter',
  type: 'fingerprint',
  version: '1.0.0',
  description: 'Identifies products by their certificates.',
  options: matcherOptions,
  requires: ['banners'],
  provides: ['service_fingerprints'],
  reads: ['parsed_services'],
  async execute(ctx, data) {
    const { min_confidence: minConfidence, rules } = ctx.options;
    await matchBanners(ctx, data, { kinds: ['tls'], minConfidence, rules, maxProtocols: 1 });
  },
});
