import type { LoadedConfig } from '../config/load.ts';
import type { Config } from '../config/schema.ts';
import type { Registry } from '../engine/registry.ts';
import type { BuildInfo } from './build-info.ts';

/** What the command line needs from parts of the program that it may not import; main.ts provides it. */
export interface CliWiring {
  /** The file that this program runs from (main.ts, or main.js of the packed build). */
  entryFile: string;
  version: string;
  /** What it was made from. */
  build(): BuildInfo;
  /** Folder of the builtin profiles. */
  profilesDir: string;
  /** The installed modules with the bounds that the configuration sets, each loaded when it is first asked for. */
  loadRegistry(config: Pick<Config, 'scanner'>): Promise<Registry>;
  /** Opens the workspace, takes its lock and listens. @throws PortolanError */
  startServer(input: ServerSettings): Promise<StartedServer>;
  /** Takes shards of scans until the signal comes. @throws PortolanError */
  runWorker(input: WorkerOptions, signal: AbortSignal): Promise<void>;
}

export interface WorkerOptions extends Pick<LoadedConfig, 'config' | 'warnings'> {
  pools: string[];
  tags: string[];
  /** Shards at a time. */
  concurrency: number;
  /** Where servers are, in place of what they say themselves; null = what they say. */
  homeUrl: string | null;
}

export interface ServerSettings extends Pick<LoadedConfig, 'config' | 'warnings' | 'origins' | 'alertFiles'> {
  /** Aborted when a start that waits for its store is to end. */
  stopping?: AbortSignal;
  /** Reads them anew from where they came, for a reload. @throws PortolanError `configuration` */
  readConfig(): Promise<LoadedConfig>;
}

export interface StartedServer {
  /** Base URL that a client on this machine can use, without a slash at its end. */
  url: string;
  /** Stops taking requests, lets running scans reach a checkpoint, gives the lock back. */
  stop(): Promise<void>;
  /** Reads the settings anew and tells the log how that ended. Never throws. */
  reload(): Promise<void>;
}
