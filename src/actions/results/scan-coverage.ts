import type { Config } from '../../config/schema.ts';
import { type Finding, type Severity, severities } from '../../domain/finding.ts';
import type { Protocol } from '../../domain/host.ts';
import { type Produced, producersOf } from '../../domain/producer.ts';
import type { HostRow } from '../../domain/result.ts';
import type { Scan, ScanRequest, StageRecord } from '../../domain/scan.ts';
import { AddressSet } from '../../domain/targets/address-set.ts';
import { compileScope } from '../../domain/targets/scope.ts';
import { type NamedNetwork, parseTargets } from '../../domain/targets/target.ts';
import { type ModuleCatalog, planScan } from '../../scan-run/plan/plan-scan.ts';
import { type PlannedPorts, plannedPorts } from '../../scan-run/plan/planned-ports.ts';
import { blocksOf } from '../../scan-run/prepare-targets.ts';
import type { RowRecord } from '../../workspace/record/scan-record.ts';

/** Why the silence of a scan means nothing. */
export type Blindness = 'out_of_scope' | 'partial' | 'port_not_planned' | 'not_evaluated' | 'record_damaged';

/** What a scan would have found if it had been there: only then does its silence count. */
export class PlannedCoverage {
  readonly scanId: string;
  readonly #addresses: AddressSet;
  readonly #excluded: AddressSet;
  readonly #names: TargetNames;
  readonly #ports: PlannedPorts | null;
  /** Every host was probed: the scan completed and no probing stage failed. */
  readonly #complete: boolean;
  readonly #evaluated: boolean;
  /** Rows were lost: anything may have been among them. */
  readonly #damaged: boolean;
  readonly #minSeverity: string | undefined;
  readonly #checks: Checks;

  private constructor(input: CoverageInput, ports: PlannedPorts | null, names: TargetNames) {
    const { scan, request, config } = input;
    const excluded = parseTargets([...request.exclude, ...config.scanner.blocklist]).covered;
    const requested = parseTargets(request.targets).addresses.minus(excluded);
    this.scanId = scan.scan_id;
    this.#addresses = compileScope(config.scanner.scope).split(requested).inside;
    this.#excluded = excluded;
    this.#names = names;
    this.#ports = ports;
    this.#complete = isComplete(input);
    this.#evaluated = isEvaluated(input);
    this.#damaged = input.damaged;
    this.#minSeverity = request.options.min_severity;
    this.#checks = checksOf(input);
  }

  static async of(input: CoverageInput): Promise<PlannedCoverage> {
    return new PlannedCoverage(input, await portsOf(input), await TargetNames.of(input));
  }

  /** Why the absence of a host in this scan means nothing; null if it counts. */
  blindToHost(found: HostRow | null, host: string): Blindness | null {
    const named = this.#names.cover(host, found?.hostnames ?? []) && !this.#excluded.has(host);
    if (!named && !this.#addresses.has(host)) return 'out_of_scope';
    if (this.#damaged) return 'record_damaged';
    return this.#complete ? null : 'partial';
  }

  /** The same for an open port. @param own this scan's results for the host */
  blindToPort(own: HostRow | null, port: number, protocol: Protocol): Blindness | null {
    if (this.#ports && !this.#ports[protocol].has(port)) return 'port_not_planned';
    if (this.#damaged) return 'record_damaged';
    const { port_counts: counts } = own ?? {};
    const swept = counts ? counts.not_tried === 0 : this.#complete;
    return swept ? null : 'partial';
  }

  /**
   * Whether this scan, which would have seen the place of a finding, did not have the check that found it.
   * @param inOther the scan with the finding
   * @param isSame the service there is the same in both scans: then another version of the check or of its data counts
   */
  lacksCheck(row: Produced & { vulnerability: Finding }, inOther: PlannedCoverage, isSame: boolean): boolean {
    const { modules, plugins, catalogVersion } = this.#checks;
    const producers = producersOf(row);
    if (producers.length > 0)
      return !producers.some(({ name, sha256 }) =>
        isSame ? plugins.get(name) === sha256 : plugins.has(name),
      );
    const used = inOther.#checks;
    const { plugin } = row.vulnerability;
    // Rules name themselves.
    const module = used.modules.has(plugin) ? plugin : ruleEvaluator;
    if (!modules.has(module)) return used.modules.has(module);
    if (!isSame) return false;
    const isOther = modules.get(module) !== used.modules.get(module);
    return isOther || (module === cveMatcher && catalogVersion !== used.catalogVersion);
  }

  /** The same for a finding. */
  blindToFinding(severity: Severity): Blindness | null {
    if (this.#damaged) return 'record_damaged';
    const least = severities.indexOf(this.#minSeverity as Severity);
    const isEvaluated = least < 0 || severities.indexOf(severity) <= least;
    return this.#evaluated && isEvaluated ? null : 'not_evaluated';
  }
}

export interface CoverageInput {
  scan: Scan;
  request: ScanRequest;
  record: RowRecord;
  config: Config;
  catalogue: ModuleCatalog;
  /** Its record is missing or damaged. */
  damaged: boolean;
  /** Of its vulnerability data; not needed unless checks are compared. */
  catalogVersion?: string;
}

/** The one check whose data have a version. */
const cveMatcher = 'cve_matcher';
const ruleEvaluator = 'rule_evaluator';

/** What looked for vulnerabilities. */
interface Checks {
  /** Versions by module. */
  modules: ReadonlyMap<string, string | undefined>;
  /** Hashes by plugin. */
  plugins: ReadonlyMap<string, string>;
  catalogVersion: string | undefined;
}

function checksOf(input: CoverageInput): Checks {
  const stages = input.scan.stages.filter((stage) => isEvaluation(input, stage));
  return {
    modules: new Map(stages.map(({ module_type, version }) => [module_type, version])),
    plugins: new Map(input.request.plugins?.map(({ file }) => [file.name, file.sha256])),
    catalogVersion: input.catalogVersion,
  };
}

type StagesInput = Pick<CoverageInput, 'scan' | 'catalogue'>;

/** Every host was probed: the scan completed and no probing stage failed. */
export function isComplete(input: StagesInput): boolean {
  return input.scan.status === 'completed' && !failedProbing(input);
}

/** Vulnerabilities were evaluated. */
export function isEvaluated(input: StagesInput): boolean {
  return input.scan.stages.some((stage) => isEvaluation(input, stage));
}

function isEvaluation(input: StagesInput, { module_type, status }: StageRecord): boolean {
  return status === 'completed' && typeOf(input, module_type) === 'evaluation';
}

function failedProbing(input: StagesInput): boolean {
  return input.scan.stages.some(({ module_type, status }) => {
    const type = typeOf(input, module_type);
    return status === 'failed' && (type === undefined || type === 'discovery' || type === 'scanner');
  });
}

function typeOf({ catalogue }: StagesInput, moduleType: string): string | undefined {
  return catalogue.registry.get(moduleType)?.type;
}

/** Null if the graph of the scan is no longer installed: then only the counts of its hosts are known. */
async function portsOf({ request, config, catalogue }: CoverageInput): Promise<PlannedPorts | null> {
  try {
    return plannedPorts(await planScan(request, config, catalogue));
  } catch {
    return null;
  }
}

/** The host names among the targets of a scan, and their addresses. */
class TargetNames {
  readonly #requested: ReadonlySet<string>;
  readonly #networkNames: ReadonlySet<string>;
  readonly #unresolved = new Set<string>();
  /** Live addresses by name. */
  readonly #addresses = new Map<string, Set<string>>();
  /** Around names with a prefix length, as far as their live addresses show where that was. */
  #around = AddressSet.empty;

  private constructor(requested: ReadonlySet<string>, networks: readonly NamedNetwork[]) {
    this.#requested = requested;
    this.#networkNames = new Set(networks.map(({ name }) => name));
  }

  static async of({ request, record }: CoverageInput): Promise<TargetNames> {
    const excluded = new Set(parseTargets(request.exclude).hostnames);
    const { hostnames, namedNetworks } = parseTargets(request.targets);
    const requested = hostnames.filter((name) => !excluded.has(name));
    const names = new TargetNames(new Set(requested), namedNetworks);
    if (requested.length + namedNetworks.length > 0) await names.#read(record);
    const blocks = namedNetworks.flatMap((network) =>
      blocksOf(network, [...(names.#addresses.get(network.name) ?? [])]).slice(0, 1),
    );
    names.#around = parseTargets(blocks).addresses;
    return names;
  }

  async #read(record: RowRecord): Promise<void> {
    for await (const row of record.rows()) {
      if (row.type === 'error' && row.target !== null && row.code === 'resolve_failed')
        this.#unresolved.add(row.target);
      if (row.type !== 'host') continue;
      for (const name of row.hostnames ?? []) {
        if (this.#requested.has(name) || this.#networkNames.has(name))
          this.#addresses.set(name, (this.#addresses.get(name) ?? new Set()).add(row.host));
      }
    }
  }

  /**
   * Whether the host was requested by one of its names. Names that did not resolve, or resolved to other addresses,
   * do not count; a name without any live address is assumed to still point to the host.
   */
  cover(host: string, names: readonly string[]): boolean {
    if (this.#around.has(host)) return true;
    return names.some((name) => {
      if (!this.#requested.has(name) || this.#unresolved.has(name)) return false;
      const live = this.#addresses.get(name);
      return live === undefined || live.has(host);
    });
  }
}
