/** The plugin that created a record. Builtin modules set none. */
export interface Producer {
  name: string;
  version: string;
  /** Of the package, or of a plain file, hex. */
  sha256: string;
}

/** Marks a record that plugins contributed to. */
export interface Produced {
  /** The plugin; the latest one of several. */
  producer?: Producer;
  /** All plugins, only if there are several. */
  producers?: Producer[];
}

/** The plugins behind a record; none for a record of builtin modules. */
export function producersOf({ producer, producers }: Produced): readonly Producer[] {
  return producers ?? (producer ? [producer] : []);
}

/** The mark of a record with contributions of both: each plugin once, in order. */
export function jointProducers(earlier: Produced, later: Produced): Produced {
  const all = new Map<string, Producer>();
  for (const plugin of [...producersOf(earlier), ...producersOf(later)])
    all.set(`${producerText(plugin)} ${plugin.sha256}`, plugin);
  const producers = [...all.values()];
  const producer = later.producer ?? earlier.producer;
  return { ...(producer && { producer }), ...(producers.length > 1 && { producers }) };
}

/** `name@version` */
export function producerText({ name, version }: Producer): string {
  return `${name}@${version}`;
}

/** Only the mark of a record. */
export function producerMark({ producer, producers }: Produced): Produced {
  return { ...(producer && { producer }), ...(producers && { producers }) };
}
