import type { Host, Port, PortCoverage, Protocol } from '../domain/host.ts';
import type { Producer } from '../domain/producer.ts';
import type { ResultRow, SummaryRow } from '../domain/result.ts';
import type { Scan, ScanRequest, ScanWarning, StageRecord } from '../domain/scan.ts';
import type { Fingerprint } from '../domain/service.ts';
import type { AddressSet } from '../domain/targets/address-set.ts';
import type { Target } from '../domain/targets/target.ts';
import type { Banner } from '../domain/text/banner.ts';
import type { RuleSet } from '../knowledge/evaluation-rules/rule-set.ts';
import type { RuleCatalog } from '../knowledge/rules/rule-catalog.ts';
import type { CveSource } from '../knowledge/vulndb/cve-record.ts';
import type { NetworkGate } from '../net/gate/gate.ts';
import { type OptionDefs, type OptionValues, requireOptions } from './options.ts';

export const moduleTypes = [
  'discovery',
  'scanner',
  'parser',
  'fingerprint',
  'profiler',
  'evaluation',
  'reporter',
] as const;
export type ModuleType = (typeof moduleTypes)[number];

/**
 * The module contract. The engine creates one instance for each node of a scan, configures and executes it.
 * `initialize` and `cleanup` belong to the module type: they run once per process, in an instance of their own, and what
 * `initialize` loads is only read from then on. See `lifecycle.ts`.
 */
export interface Module {
  name(): string;
  description(): string;
  version(): string;
  configSchema(): OptionDefs;
  /** @throws Error naming every bad option */
  configure(config: Record<string, unknown>): void | Promise<void>;
  /** Required DataContext keys; `a|b` = at least one, the first available is preferred. */
  requires(): string[];
  provides(): string[];
  execute(ctx: ExecContext, data: DataContext): Promise<void>;
  initialize(): void | Promise<void>;
  cleanup(): void | Promise<void>;
}

/** Services for a module during execution. Modules never open a socket: `net` does. */
export interface ExecContext<O extends OptionDefs = OptionDefs> {
  /** Aborted on cancel, on the node's deadline and when the scan ends. */
  signal: AbortSignal;
  /** Monotonic milliseconds (performance.now) at which the node times out, or null. */
  deadline: number | null;
  instanceId: string;
  scanId: string;
  options: OptionValues<O>;
  net: NetworkGate;
  log: Logger;
  /**
   * The fingerprint rules of the scan: builtin, installed, and those of a file if one is named. They do not change
   * during the scan.
   * @throws PortolanError `configuration` if the file is invalid
   */
  fingerprints(rulesFile: string): Promise<RuleCatalog>;
  /** The declarative rules of the scan: shipped, installed and those of plugins. They do not change during the scan. */
  evaluationRules(): Promise<RuleSet>;
  /** The vulnerability data of the scan: imported and builtin. It does not change during the scan. */
  vulnerabilities(): Promise<CveSource>;
  /** The upstream nodes that were neither skipped nor failed so far: their options by module type. */
  upstream(): ReadonlyMap<string, Readonly<Record<string, unknown>>>;
  progress(done: number, total?: number): void;
  /** Adds a warning to the scan; the same code and target are reported once. */
  warn(code: string, message: string, target?: string): void;
  /** Adds completed pairs of host and port: in the end they sum up to the plan. Saved with the checkpoint. */
  cover(counts: PortCoverage): void;
  /** Replaces the coverage of an earlier run of the node. */
  recount(counts: PortCoverage): void;
  /** How packets are sent and why, if there is more than one way; recorded with the scan. */
  method(text: string): void;
  /** Results of the scan so far, merged and in address order; for reporters. */
  results: ResultSource;
  /** State this node saved before the scan was interrupted, or null: at the first start, or if nothing was saved. */
  restored: unknown;
  /**
   * Registers the state to save of this node: called twice a second, written once every result published before is
   * durable. It must be small and JSON-serializable. Without it an interrupted node restarts from its beginning.
   */
  checkpoint(state: () => unknown): void;
  /** True if the record already has the result of this piece of work from before an interruption. */
  recorded(key: string, record: object): boolean;
  /** Sweep results per host that the record had before an interruption; empty at the first start. */
  recordedCounts(protocol: Protocol): ReadonlyMap<string, PortCoverage>;
}

export interface Logger {
  debug(message: string, details?: Record<string, unknown>): void;
  info(message: string, details?: Record<string, unknown>): void;
  warn(message: string, details?: Record<string, unknown>): void;
  error(message: string, details?: Record<string, unknown>): void;
}

export interface ResultSource {
  scanId: string;
  targets: string[];
  /** Null if it is unknown. */
  request: ScanRequest | null;
  /** When the scan was first started, ISO 8601 UTC; null if that is unknown. */
  startedAt: string | null;
  summary(): Promise<SummaryRow>;
  /** Why the scan failed, or null. */
  failure(): Scan['error'];
  /** The nodes that have ended; no reporter that still runs. */
  stages(): StageRecord[];
  /** Errors first, then each host followed by its ports and findings; hosts by address, ports ascending. */
  rows(): AsyncIterable<ResultRow>;
  warnings(): ScanWarning[];
  /** Whether the scan looks for vulnerabilities: if not, the absence of findings means nothing. */
  evaluated: boolean;
  /** Folder for report files, or null if nothing may be written. */
  reportsDir: string | null;
  /** Folder of the templates of reports, or null without one. */
  templatesDir: string | null;
}

/** The shared, append-only streams of one scan, as seen by one node. */
export interface DataContext {
  /** Waits for the complete value. @throws MissingKeyError */
  get<T>(key: string): Promise<T>;
  /** Writes one value and ends the key. */
  set<T>(key: string, value: T): Promise<void>;
  /** Items as they arrive, from the first. @throws MissingKeyError */
  stream<T>(key: string): AsyncIterable<T>;
  /** Resolves when every reader has room again. */
  append<T>(key: string, ...items: T[]): Promise<void>;
  has(key: string): boolean;
  keys(): string[];
  getTargets(key: string): Promise<Target[]>;
  getHosts(key: string): Promise<Host[]>;
  getPorts(key: string): Promise<Port[]>;
  getBanners(key: string): Promise<Banner[]>;
  getFingerprints(key: string): Promise<Fingerprint[]>;
}

/** Definition of a module type, with a factory for instances. */
export interface ModuleDefinition<O extends OptionDefs = OptionDefs> {
  name: string;
  type: ModuleType;
  version: string;
  description: string;
  options: O;
  requires: string[];
  provides: string[];
  /** Optional keys, read if an ancestor produces them. */
  reads: string[];
  /**
   * When a scan resumes, it reads the banners that the record has, too. Builtin modules that react to each banner at
   * once do without; a plugin may be thousands of banners behind when the scan is interrupted.
   */
  rereadsBanners?: boolean;
  /**
   * Called as soon as a scan is planned, so that slow preparation starts early. Sends nothing.
   * @param addresses the targets that are addresses
   */
  prepare?(config: Readonly<Record<string, unknown>>, addresses: AddressSet): void;
  create(): Module;
  /** Releases what `prepare` started. Called once when the scan has ended, also if no node of this type ran. */
  endScan?(): Promise<void>;
  /** Why the module of a plugin is not known: a node of it fails, whatever its options are. */
  unavailable?: string;
  /** The plugin behind it; its items are checked before they are published, and its records name it. */
  producer?: Producer;
}

interface ModuleSource<O extends OptionDefs>
  extends Omit<ModuleDefinition<O>, 'reads' | 'create' | 'endScan' | 'unavailable' | 'producer'>,
    Partial<Pick<Module, 'initialize' | 'cleanup'>> {
  reads?: string[];
  execute(ctx: ExecContext<O>, data: DataContext): Promise<void>;
}

/**
 * Defines a module type from one object: metadata, option schema and implementation. `execute` receives validated
 * options with defaults; unknown options are an error.
 */
export function defineModule<const O extends OptionDefs>(source: ModuleSource<O>): ModuleDefinition {
  return {
    name: source.name,
    type: source.type,
    version: source.version,
    description: source.description,
    options: source.options,
    requires: source.requires,
    provides: source.provides,
    reads: source.reads ?? [],
    ...(source.rereadsBanners && { rereadsBanners: true }),
    ...(source.prepare && { prepare: source.prepare }),
    create: () => instantiate(source),
  };
}

function instantiate<O extends OptionDefs>(source: ModuleSource<O>): Module {
  let options: OptionValues<O> | null = null;
  return {
    name: () => source.name,
    description: () => source.description,
    version: () => source.version,
    configSchema: () => source.options,
    requires: () => source.requires,
    provides: () => source.provides,
    configure(config) {
      options = requireOptions(source.options, config);
    },
    async execute(ctx, data) {
      if (!options) throw new Error(`${source.name} was executed before it was configured`);
      await source.execute({ ...ctx, options } as ExecContext<O>, data);
    },
    initialize: () => source.initialize?.(),
    cleanup: () => source.cleanup?.(),
  };
}
