/**
 * Who runs a scan, as it stands in the store: `server`, `server:<id>` of one of several that share a database, or
 * `cli:<pid>` for a scan that a command line runs by itself, `cli:<pid>:<id>` in the workspace of one of several.
 */

/** @param home id of the server; null where there is one only */
export function serverExecutor(home: string | null): string {
  return home === null ? 'server' : `server:${home}`;
}

/** @param home id of the server whose workspace it works in; null where there is one only */
export function commandLineExecutor(pid: number, home: string | null): string {
  return home === null ? `cli:${pid}` : `cli:${pid}:${home}`;
}

/** Id of the server, or of the one whose workspace a command line works in; null where there is one only. */
export function serverOf(executor: string): string | null {
  return /^(?:server|cli:\d+):(.+)$/.exec(executor)?.[1] ?? null;
}

/** A pattern of SQL that fits all command lines in the workspace of a server. */
export function commandLinesOf(home: string): string {
  return `cli:%:${home}`;
}

/** Process number of the command line; null for a server. */
export function commandLineOf(executor: string): number | null {
  const text = /^cli:(\d+)(?::|$)/.exec(executor)?.[1];
  return text === undefined ? null : Number(text);
}
