import { matcherModule } from './claim-matcher.ts';

export default matcherModule('tls_fingerprinter', 'tls', 'Identifies products by their certificates.');
