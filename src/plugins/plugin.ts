import type { ModuleType } from '../engine/module.ts';
import type { OptionDefs } from '../engine/options.ts';
import type { PluginKind } from './manifest.ts';

/** A plugin whose bytes were read and verified: what a scan may load. Travels to scan processes as JSON. */
export interface PluginFile {
  /** Name of the package; of a bare file its name without the extension. */
  name: string;
  version: string;
  kind: PluginKind;
  /** Of the archive, or of the bare file, hex. */
  sha256: string;
  /** Whether that is the hash of an archive. */
  archive: boolean;
  /** Folder that holds exactly the verified files; the plugin may read it. */
  folder: string;
  /** File that is loaded, relative to the folder; `host:port` for kind grpc. */
  entry: string;
  /** Granted by the manifest; a bare file has none. */
  permissions: PluginPermission[];
  /** Where it belongs in a scan: then an installed one runs in the builtin profiles. Absent in older scans. */
  stage?: ModuleType | null;
  /** Where it comes from: `installed`, `file <path>`, `configuration`. */
  source: string;
}

export type PluginPermission = 'network';

/** What a plugin says about the module that it adds; checked, because it comes from the plugin. */
export interface PluginMetadata {
  /** Unique name of the module type. */
  name: string;
  type: ModuleType;
  version: string;
  description: string;
  options: OptionDefs;
  /** DataContext keys; `a|b` = at least one. */
  requires: string[];
  provides: string[];
  /** Why nothing more than a name is known of it; of gRPC plugins that were never reached. */
  unavailable?: string;
}

/** A plugin and the module that it adds. */
export interface DescribedPlugin {
  file: PluginFile;
  metadata: PluginMetadata;
}

/** A plugin as scans are planned with it, on whatever machine they run. */
export interface PlannedPlugin {
  file: Omit<PluginFile, 'folder'>;
  /** Null for rules, which add no module. */
  metadata: PluginMetadata | null;
  /** Joins a graph that does not name it. */
  added: boolean;
  /** Switched off: its rules are not evaluated, its nodes are skipped. */
  off?: boolean;
}

/** The same on a machine that has its files. */
export interface LoadedPlugin extends PlannedPlugin {
  file: PluginFile;
}

/** Where a machine has a plugin of a scan. */
export interface PlacedPlugin {
  name: string;
  sha256: string;
  file: PluginFile | null;
  /** Why there is no file. */
  problem: string | null;
}

/** Limits of plugin hosts (`plugins.limits.*`). */
export interface PluginLimits {
  /** Of one host, bytes. */
  memory: number;
  /** Of one execution, milliseconds; waiting for items, for the rate limit and while the scan is paused does not count. */
  timeout: number;
  /** Of one frame, and of all that a host has under way, bytes. */
  output: number;
  /** Of one host. */
  threads: number;
  /** Run plugins where a part of the sandbox is missing (`plugins.allow_unconfined`). */
  allowUnconfined: boolean;
  /** Highest ABI of Landlock to use; by default the newest. */
  landlockAbi?: number;
}

/** Whether the configuration names it: it runs on its own and has no files. */
export function isRemote({ kind, archive }: Pick<PluginFile, 'kind' | 'archive'>): boolean {
  return kind === 'grpc' && !archive;
}
