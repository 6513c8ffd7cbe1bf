import childProcess, { type ChildProcess } from 'node:child_process';
import { subscribe } from 'node:diagnostics_channel';
import { syncBuiltinESMExports } from 'node:module';
import { noteCommand } from './starts.ts';

// Setup of tests: counts the starts of the program, of its servers and of PostgreSQL.
const isCounted = Symbol.for('portolan: starts are counted');
const shared = globalThis as unknown as Record<symbol, boolean>;

// Files of tests share a process.
if (!shared[isCounted]) {
  shared[isCounted] = true;
  subscribe('child_process', (message) => {
    const { process: child } = message as { process: ChildProcess };
    // The channel reports a child before spawn() fills it in.
    setImmediate(() => noteCommand(child.spawnargs));
  });
  for (const name of ['spawnSync', 'execFileSync'] as const) {
    const start = childProcess[name] as (...args: unknown[]) => unknown;
    Reflect.set(childProcess, name, (file: string, args: unknown, ...more: unknown[]) => {
      noteCommand([file, ...(Array.isArray(args) ? (args as string[]) : [])]);
      return start(file, args, ...more);
    });
  }
  syncBuiltinESMExports();
}
