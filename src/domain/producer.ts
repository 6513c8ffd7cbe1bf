/** The plugin that created a record. Builtin modules set none. */
export interface Producer {
  name: string;
  version: string;
  /** Of the package, or of a plain file, hex. */
  sha256: string;
}
