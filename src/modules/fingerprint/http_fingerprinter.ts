import { matcherModule } from './claim-matcher.ts';

export default matcherModule(
  'http_fingerprinter',
  'http',
  'Identifies web servers and applications by headers, titles and bodies.',
);
