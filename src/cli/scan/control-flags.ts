import type { ServerFlags } from '../session/server-flags.ts';

/** Flags of the subcommands of `scan`. */
export type ControlFlags = ServerFlags & { format: string; progress?: boolean };
