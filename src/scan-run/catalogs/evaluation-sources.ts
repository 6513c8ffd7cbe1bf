import type { Config } from '../../config/schema.ts';
import type { ScanWarning } from '../../domain/scan.ts';
import type { EvaluationData } from '../../domain/shard.ts';
import type { PluginFile } from '../../plugins/plugin.ts';
import { ScanFingerprints } from './scan-fingerprints.ts';
import { ScanRules } from './scan-rules.ts';
import { ScanVulnerabilities } from './scan-vulnerabilities.ts';

/** The rules and the vulnerability data that a scan is evaluated with; each is loaded when it is first used. */
export class EvaluationSources {
  readonly fingerprints: ScanFingerprints;
  readonly rules: ScanRules;
  readonly vulnerabilities: ScanVulnerabilities;

  /**
   * @param rules files of plugins
   * @param warnings take what is wrong with the data
   */
  constructor(config: Config, rules: readonly PluginFile[], warnings: ScanWarning[]) {
    this.fingerprints = new ScanFingerprints(config, (message) =>
      warnings.push({ code: 'fingerprint_rules_refused', message }),
    );
    this.rules = new ScanRules(config, rules, (message) =>
      warnings.push({ code: 'evaluation_rules_refused', message }),
    );
    this.vulnerabilities = new ScanVulnerabilities(config, (message) =>
      warnings.push({ code: 'vulndb_unusable', message }),
    );
  }

  /** What was used so far. */
  get data(): EvaluationData {
    const { used, version } = this.fingerprints;
    return { rules: used ? version : null, vulnerabilities: this.vulnerabilities.version };
  }

  /** Version of the rules, and of the imported vulnerability data where it was used. */
  get catalogVersion(): string {
    const { generation } = this.vulnerabilities;
    return this.fingerprints.version + (generation === null ? '' : `+vulndb@${generation}`);
  }

  /** Whether the workers of all shards had the same data as this server. */
  async match(evaluated: readonly EvaluationData[]): Promise<boolean> {
    if (evaluated.some(({ rules }) => rules !== null)) await this.fingerprints.of('');
    if (evaluated.some(({ vulnerabilities }) => vulnerabilities !== null))
      await this.vulnerabilities.source();
    const { data } = this;
    return evaluated.every(
      ({ rules, vulnerabilities }) =>
        (rules === null || rules === data.rules) &&
        (vulnerabilities === null || vulnerabilities === data.vulnerabilities),
    );
  }

  close(): void {
    this.vulnerabilities.close();
  }
}
