/** The plugin that made a record. Builtin modules name none. */
export interface Producer {
  name: string;
  version: string;
  /** Of the package, or of a bare file, hex. */
  sha256: string;
}
