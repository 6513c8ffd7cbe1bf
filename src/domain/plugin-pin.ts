/** A plugin that a scan was planned with, stored with its request. Its bytes are found by name, version and hash. */
export interface PluginPin {
  file: {
    name: string;
    version: string;
    kind: string;
    /** Of the archive, or of the bare file, hex. */
    sha256: string;
    archive: boolean;
    entry: string;
    permissions: string[];
    stage?: string | null;
    source: string;
  };
  /** Of the module that it adds; null for rules, which have none. */
  metadata: object | null;
  /** Joins a graph that does not name it. */
  added: boolean;
}
