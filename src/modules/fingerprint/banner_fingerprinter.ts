import { matcherModule } from './claim-matcher.ts';

export default matcherModule(
  'banner_fingerprinter',
  'banner',
  'Identifies products by their banners and responses.',
);
