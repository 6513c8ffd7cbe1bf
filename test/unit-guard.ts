/**
 * Setup of the unit tests (`npm run check`): whatever leaves the process, waits or opens a database fails with the
 * remedy. A test that needs it is named `*.integration.test.ts`.
 */
import childProcess from 'node:child_process';
import dgram from 'node:dgram';
import { syncBuiltinESMExports } from 'node:module';
import net from 'node:net';
import { DatabaseSync } from 'node:sqlite';
import timers from 'node:timers/promises';
import workerThreads from 'node:worker_threads';

function forbid(target: object, names: string[], what: string): void {
  for (const name of names) {
    Reflect.set(target, name, () => {
      throw new Error(`a unit test must not ${what}: name its file *.integration.test.ts`);
    });
  }
}

forbid(net.Socket.prototype, ['connect'], 'open a connection');
forbid(net.Server.prototype, ['listen'], 'listen on a socket');
forbid(dgram.Socket.prototype, ['bind', 'send'], 'open a UDP socket');
const starts = ['spawn', 'fork', 'exec', 'execFile', 'spawnSync', 'execSync', 'execFileSync'];
forbid(childProcess, starts, 'start a process');
forbid(workerThreads, ['Worker'], 'start a thread');
forbid(timers, ['setTimeout'], 'sleep');
forbid(DatabaseSync.prototype, ['prepare', 'exec'], 'open a database');
syncBuiltinESMExports();
