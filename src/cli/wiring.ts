import type { LoadedConfig } from '../config/load.ts';
import type { Config } from '../config/schema.ts';
import type { Registry } from '../engine/registry.ts';
import type { BuildInfo } from './build-info.ts';

/** Dependencies of the command line on layers that it must not import; main.ts provides them. */
export interface CliWiring {
  /** Entry file of the program (main.ts, or main.js of the packed build). */
  entryFile: string;
  version: string;
  /** Commit and time of the build. */
  build(): BuildInfo;
  /** Directory of the builtin profiles. */
  profilesDir: string;
  /** The installed modules with the bounds of the configuration, loaded on first use. */
  loadRegistry(config: Pick<Config, 'scanner'>): Promise<Registry>;
  /** Opens and locks the workspace, and listens. @throws PortolanError */
  startServer(input: ServerSettings): Promise<StartedServer>;
  /** Runs shards of scans until the signal aborts. @throws PortolanError */
  runWorker(input: WorkerOptions, signal: AbortSignal): Promise<void>;
}

export interface WorkerOptions extends Pick<LoadedConfig, 'config' | 'warnings'> {
  pools: string[];
  tags: string[];
  /** Maximum number of concurrent shards. */
  concurrency: number;
}

export interface ServerSettings extends Pick<LoadedConfig, 'config' | 'warnings' | 'origins' | 'alertFiles'> {
  /** Files of plugins for all scans. */
  plugins?: readonly string[];
  /** Aborts a start that waits for its store. */
  stopping?: AbortSignal;
  /** Reads the configuration again from its sources, for a reload. @throws PortolanError `configuration` */
  readConfig(): Promise<LoadedConfig>;
}

export interface StartedServer {
  /** Base URL for clients on this machine, without a trailing slash. */
  url: string;
  /** Rejects new requests, waits until running scans have saved a checkpoint, releases the lock. */
  stop(): Promise<void>;
  /** Reloads the configuration and logs the outcome. Never throws. */
  reload(): Promise<void>;
}
