/** What decides the order of loading. */
export interface Requirement {
  name: string;
  requires: readonly string[];
}

/**
 * Orders plugins so that each comes after those that it requires.
 * @returns the order, and why the others cannot be loaded, by name
 */
export function orderPlugins<P extends Requirement>(
  plugins: readonly P[],
): { ordered: P[]; refused: Map<string, string> } {
  const byName = new Map(plugins.map((plugin) => [plugin.name, plugin]));
  const done = new Set<string>();
  const refused = new Map<string, string>();
  const ordered: P[] = [];
  const visit = (plugin: P, path: readonly string[]): void => {
    const { name, requires } = plugin;
    if (done.has(name) || refused.has(name)) return;
    for (const required of requires) {
      const at = [...path, name].indexOf(required);
      if (at >= 0) {
        const cycle = [...path, name].slice(at);
        for (const each of cycle)
          refused.set(each, `its requirements form a cycle: ${[...cycle, required].join(' -> ')}`);
        return;
      }
      const other = byName.get(required);
      if (other) visit(other, [...path, name]);
      if (refused.has(name)) return;
      if (done.has(required)) continue;
      const reason = other ? 'which is refused' : 'which is not there';
      refused.set(name, `it requires "${required}", ${reason} (${[...path, name, required].join(' -> ')})`);
      return;
    }
    done.add(name);
    ordered.push(plugin);
  };
  for (const plugin of plugins) visit(plugin, []);
  return { ordered, refused };
}
