const words: Readonly<Record<string, string>> = {
  builtin: 'builtin',
  workspace: 'own',
  tenant: 'own',
};

/** Where a graph or profile comes from, in a word. */
export function sourceWord(source: string): string {
  return words[source] ?? source;
}
