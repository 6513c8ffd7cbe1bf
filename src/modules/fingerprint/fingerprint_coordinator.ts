import { defineModule } from '../../engine/module.ts';
import { matchBanners, matcherOptions } from './claim-matcher.ts';

export default defineModule({
  name: 'fingerprint_coordinator',
  type: 'fingerprint',
  version: '1.0.0',
  description: 'Runs all matchers on every port and merges their claims into one record with alternatives.',
  options: {
    ...matcherOptions,
    max_protocols: {
      Type: 'int',
      Description: 'Maximum number of different services reported for one port, most likely first.',
      Default: 3,
      Min: 1,
      Max: 20,
    },
  },
  requires: ['banners'],
  provides: ['service_fingerprints'],
  async execute(ctx, data) {
    const { min_confidence: minConfidence, rules, max_protocols: maxProtocols } = ctx.options;
    await matchBanners(ctx, data, { kinds: ['banner', 'http', 'tls'], minConfidence, rules, maxProtocols });
  },
});
