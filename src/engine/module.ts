import type { AddressSet } from '../domain/address-set.ts';
import type { Banner } from '../domain/banner.ts';
import type { Host, Port, PortCoverage, Protocol } from '../domain/host.ts';
import type { ResultRow, SummaryRow } from '../domain/result.ts';
import type { Fingerprint } from '../domain/service.ts';
import type { Target } from '../domain/target.ts';
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
 * The module contract. One object is one configured instance: the engine creates it, initializes and configures
 * it, executes it once per scan and cleans it up.
 */
export interface Module {
  name(): string;
  description(): string;
  version(): string;
  configSchema(): OptionDefs;
  /** @throws Error naming every bad option */
  configure(config: Record<string, unknown>): void | Promise<void>;
  /** DataContext keys that must be there; `a|b` = at least one, the first available is preferred. */
  requires(): string[];
  provides(): string[];
  execute(ctx: ExecContext, data: DataContext): Promise<void>;
  initialize(): void | Promise<void>;
  cleanup(): void | Promise<void>;
}

/** What a module may use while it executes. Modules never open a socket: `net` does. */
export interface ExecContext<O extends OptionDefs = OptionDefs> {
  /** Aborted on cancel, on the node's deadline and when the scan ends. */
  signal: AbortSignal;
  /** Monotonic milliseconds (performance.now) at which the node is stopped, or null. */
  deadline: number | null;
  instanceId: string;
  scanId: string;
  options: OptionValues<O>;
  net: NetworkGate;
  log: Logger;
  /**
   * The fingerprint rules of the scan: builtin, installed, and those of a file when one is named. They stay the same for
   * the whole scan.
   * @throws PortolanError `configuration` when the file is not good
   */
  fingerprints(rulesFile: string): Promise<RuleCatalog>;
  /** The vulnerability data of the scan: imported and builtin. It stays the same for the whole scan. */
  vulnerabilities(): Promise<CveSource>;
  /** The nodes before this one that were neither left out nor failed so far: their options by module type. */
  upstream(): ReadonlyMap<string, Readonly<Record<string, unknown>>>;
  progress(done: number, total?: number): void;
  /** A warning in the scan's detail; the same code and target are reported once. */
  warn(code: string, message: string, target?: string): void;
  /** Adds pairs of host and port that are done: together they become the plan. Kept with the checkpoint. */
  cover(counts: PortCoverage): void;
  /** Replaces what an earlier run of the node covered. */
  recount(counts: PortCoverage): void;
  /** How packets leave, and why so, where there is more than one way; stands in the record of the scan. */
  method(text: string): void;
  /** What the scan has found so far, merged and in address order; for reporters. */
  results: ResultSource;
  /** What this node saved before the scan was interrupted, or null: at the first start, or when nothing was saved. */
  restored: unknown;
  /**
   * Names what to save of this node: asked for twice a second, written when every result published before is
   * durable. It must be small and survive JSON. Without it an interrupted node starts from its beginning.
   */
  checkpoint(state: () => unknown): void;
  /** True when the record already holds the outcome of this piece of work, from before an interruption. */
  recorded(key: string, record: object): boolean;
  /** How the sweep of each host ended that the record held before an interruption; empty at the first start. */
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
  summary(): Promise<SummaryRow>;
  /** Why the scan failed, or null. */
  failure(): string | null;
  /** Errors first, then each host followed by its ports and findings; hosts by address, ports ascending. */
  rows(): AsyncIterable<ResultRow>;
  warnings(): { code: string; message: string }[];
  /** Whether something looks for vulnerabilities: without it, no findings are no good news. */
  evaluated: boolean;
  /** Folder for files of the reporters, or null when nothing may be written. */
  reportsDir: string | null;
}

/** The shared, append-only streams of one scan, as one node sees them. */
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

/** What the registry knows of a module type, and how it makes instances. */
export interface ModuleDefinition<O extends OptionDefs = OptionDefs> {
  name: string;
  type: ModuleType;
  version: string;
  description: string;
  options: O;
  requires: string[];
  provides: string[];
  /** Further keys it reads when its ancestry produces them. */
  reads: string[];
  /**
   * Told as soon as a scan is planned, so that what takes long begins while the rest is made ready. Nothing is sent.
   * @param addresses of the targets that are addresses
   */
  prepare?(config: Readonly<Record<string, unknown>>, addresses: AddressSet): void;
  create(): Module;
}

interface ModuleSource<O extends OptionDefs> {
  name: string;
  type: ModuleType;
  version: string;
  description: string;
  options: O;
  requires: string[];
  provides: string[];
  reads?: string[];
  prepare?(config: Readonly<Record<string, unknown>>, addresses: AddressSet): void;
  execute(ctx: ExecContext<O>, data: DataContext): Promise<void>;
  initialize?(): void | Promise<void>;
  cleanup?(): void | Promise<void>;
}

/**
 * Defines a module type from one object: metadata, option schema and the work itself. `execute` sees validated
 * options with defaults; an option the schema does not know is an error.
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
