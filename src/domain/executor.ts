/**
 * Who runs a scan, as in the store: `server`, `server:<id>` of one of several that share a database, or `cli:<pid>`
 * for a scan of the command line, `cli:<pid>:<id>` in the workspace of one of several.
 */

/** Of a notification that any of several servers sends. */
export const anyServer = 'any';

/** @param home ID of the server; null if it is the only one */
export function serverExecutor(home: string | null): string {
  return home === null ? 'server' : `server:${home}`;
}

/** @param home ID of the server whose workspace it uses; null if it is the only one */
export function commandLineExecutor(pid: number, home: string | null): string {
  return home === null ? `cli:${pid}` : `cli:${pid}:${home}`;
}

/** ID of the server, or of the one whose workspace a command line uses; null if it is the only one. */
export function serverOf(executor: string): string | null {
  return /^(?:server|cli:\d+):(.+)$/.exec(executor)?.[1] ?? null;
}

/** SQL pattern for all command lines in the workspace of a server. */
export function commandLinesOf(home: string): string {
  return `cli:%:${home}`;
}

/** Process ID of the command line; null for a server. */
export function commandLineOf(executor: string): number | null {
  const text = /^cli:(\d+)(?::|$)/.exec(executor)?.[1];
  return text === undefined ? null : Number(text);
}
