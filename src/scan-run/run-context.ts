import type { Config } from '../config/schema.ts';
import type { ResultRow } from '../domain/result.ts';
import type { RateHistory, ScanRequest, ScanWarning } from '../domain/scan.ts';
import type { EvaluationData, ShardPart } from '../domain/shard.ts';
import type { Traffic } from '../domain/traffic.ts';
import type { ScanModules } from '../engine/lifecycle.ts';
import type { Logger } from '../engine/module.ts';
import type { Resolution } from '../net/resolve.ts';
import type { RecordWriter } from '../workspace/record/record-writer.ts';
import type { ScanFolder } from '../workspace/scan-folder.ts';
import type { EvaluationSources } from './catalogs/evaluation-sources.ts';
import type { ScanControl } from './control.ts';
import type { ScanStop } from './finalize/failure.ts';
import type { LiveScan } from './messages.ts';
import type { ModuleCatalog } from './plan/plan-scan.ts';
import type { ScanTime } from './run-time.ts';

export interface RunScanInput {
  request: ScanRequest;
  config: Config;
  catalogue: ModuleCatalog;
  folder: ScanFolder;
  /** Folder of the templates of reports; absent = none. */
  templatesDir?: string;
  /** Its module types; absent = initialized for this scan alone. */
  modules?: ScanModules;
  /** When the scan was first started, ISO 8601 UTC. */
  startedAt: string;
  /** Number of earlier starts of the scan. */
  resumes: number;
  /** Rates of earlier runs; absent or null = none. */
  rateHistory?: RateHistory | null;
  /** When this run started, `machineNow()`; absent = now. */
  begunAt?: number;
  /** Set for a shard; absent or null for the whole scan. */
  part?: ShardPart | null;
  /** Addresses of names resolved at the start of the scan. */
  names?: Readonly<Record<string, string[]>>;
  /** Of the shards that ran before. */
  warnings?: readonly ScanWarning[] | undefined;
  /** Data the shards were evaluated with, if all were; absent or null = evaluate here. */
  evaluated?: readonly EvaluationData[] | null;
  /** Aborted with a ScanAbort to end the scan as failed. */
  signal: AbortSignal;
  /** Controls while it runs; absent = none. */
  control?: ScanControl;
  log: Logger;
  onLive?: (live: LiveScan) => void;
  /** Called with every row of the record, before it is sealed. */
  onRow?: (row: ResultRow) => void;
  /** Called with the number of sealed rows. */
  onSealed?: (rows: number) => void;
  /** Called at the end of a shard. */
  onEvaluated?: (data: EvaluationData) => void;
  /** Called with the traffic of this run so far, as often as `onLive` and once at the end. */
  onTraffic?: (traffic: Traffic) => void;
}

/** What the steps of a run share. */
export interface RunContext {
  readonly input: RunScanInput;
  readonly time: ScanTime;
  readonly control: ScanControl;
  readonly stop: ScanStop;
  readonly record: RecordWriter;
  readonly evaluation: EvaluationSources;
  readonly modules: ScanModules;
  readonly warnings: ScanWarning[];
  resolve(name: string): Promise<Resolution>;
}
