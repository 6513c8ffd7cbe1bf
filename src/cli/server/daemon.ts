import { spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '../../config/schema.ts';
import { PortolanError } from '../../domain/errors.ts';
import { fileMode } from '../../workspace/atomic-file.ts';
import { openWorkspace } from '../../workspace/workspace.ts';
import { describeFailure } from '../terminal/failure.ts';
import { note, print } from '../terminal/output.ts';

/** Environment variable that marks the background process. */
const mark = 'PORTOLAN_DAEMON';
/** Start timeout of a background server, milliseconds. */
const startMs = 60_000;

export interface DaemonCommand {
  /** Entry file of the program. */
  entryFile: string;
  /** Arguments of the command line, from `server start` (or a global flag before it) on. */
  args: string[];
  cwd: string;
  env: NodeJS.ProcessEnv;
  config: Config;
}

/** Message of the background process to its parent, sent once at the end of the start. */
type StartReport = { url: string } | { failure: string; exitCode: number };

/** Whether this process is the background server; its children are not. */
export function isDaemon(): boolean {
  const is = process.env[mark] !== undefined && process.send !== undefined;
  delete process.env[mark];
  return is;
}

/** Reports the outcome of the start to the waiting parent and disconnects from it. */
export async function reportStart(outcome: { url: string } | { error: unknown }): Promise<void> {
  const report: StartReport = 'url' in outcome ? outcome : failureOf(outcome.error);
  await new Promise<void>((resolve) => {
    if (!process.connected || !process.send) return resolve();
    process.send(report, () => resolve());
  });
  if (process.connected) process.disconnect();
}

function failureOf(error: unknown): StartReport {
  const exitCode = error instanceof PortolanError ? error.exitCode : 1;
  return { failure: describeFailure(error), exitCode };
}

/**
 * Starts a server in the background and waits until it serves. It logs to the log file; other output (a crash of
 * Node.js itself) goes to `logs/stderr.log` in the workspace.
 * @returns 0, or the exit code of a server that failed to start
 */
export async function startDaemon(order: DaemonCommand, quiet: boolean): Promise<number> {
  const errors = await errorFile(order.config);
  const stderr = openSync(errors, 'a', fileMode);
  const child = spawn(process.execPath, [...process.execArgv, order.entryFile, ...order.args], {
    cwd: order.cwd,
    env: { ...order.env, [mark]: '1' },
    detached: true,
    stdio: ['ignore', stderr, stderr, 'ipc'],
  });
  closeSync(stderr);
  const endChild = () => child.kill('SIGTERM');
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, endChild);
  const report = await new Promise<StartReport>((resolve, reject) => {
    const late = setTimeout(() => {
      child.kill('SIGKILL');
      reject(
        new PortolanError('timeout', `the server did not start within ${startMs / 1000} s and was stopped`),
      );
    }, startMs);
    const settle = (result: StartReport) => {
      clearTimeout(late);
      resolve(result);
    };
    child.once('message', (message) => settle(message as StartReport));
    child.once('error', reject);
    child.once('exit', (code, signal) =>
      settle({
        failure: `portolan: the server exited with ${signal ?? `code ${code}`} during its start; see ${errors}\n`,
        exitCode: code || 1,
      }),
    );
  });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.off(signal, endChild);
  child.removeAllListeners();
  if (child.connected) child.disconnect();
  child.unref();
  if ('failure' in report) {
    process.stderr.write(report.failure);
    return report.exitCode;
  }
  print(`${report.url}\n`);
  if (!quiet) note(`portolan serves ${report.url} in the background (pid ${child.pid})`);
  return 0;
}

/** A server without a workspace stores nothing, not even its stderr. */
async function errorFile({ workspace }: Config): Promise<string> {
  if (!workspace.enabled) return '/dev/null';
  return join((await openWorkspace(workspace.dir)).dir, 'logs', 'stderr.log');
}
