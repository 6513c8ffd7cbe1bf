import { loadFingerprints } from '../../scan-run/catalogs/load-fingerprints.ts';
import { ScanVulnerabilities } from '../../scan-run/catalogs/scan-vulnerabilities.ts';
import type { AtHand } from '../results/explain-port.ts';
import type { ExplainConfig } from './index-requests.ts';

/** Rules are read again after this, so that new ones take part, milliseconds. */
const rulesMs = 60_000;

let rules: { signatures: AtHand['signatures']; readAt: number } | null = null;

/** Runs `work` with the rules and vulnerability data that are installed now. */
export async function withAtHand<T>(config: ExplainConfig, work: (atHand: AtHand) => Promise<T>): Promise<T> {
  if (rules === null || performance.now() - rules.readAt > rulesMs) {
    const { catalogue } = await loadFingerprints(config);
    rules = { signatures: catalogue, readAt: performance.now() };
  }
  // Opened for each: a new generation may have been imported.
  const vulnerabilities = new ScanVulnerabilities(config, () => undefined);
  try {
    return await work({ signatures: rules.signatures, vulnerabilities: await vulnerabilities.source() });
  } finally {
    vulnerabilities.close();
  }
}
