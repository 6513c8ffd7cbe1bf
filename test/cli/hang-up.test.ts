import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { isInstalled } from '../installed.ts';
import { Home, launcher, run } from './command.ts';

const home = new Home();
afterAll(() => home.remove());

const hasPython = isInstalled('python3');

/** Runs a command in a terminal of its own, closes that when the text appears, and prints the exit code. */
const terminal = `
import os, pty, sys, time
text, command = sys.argv[1].encode(), sys.argv[2:]
pid, screen = pty.fork()
if pid == 0:
    os.execvp(command[0], command)
shown, end = b'', time.time() + 30
while text not in shown and time.time() < end:
    shown += os.read(screen, 4096)
os.close(screen)
while time.time() < end:
    ended, status = os.waitpid(pid, os.WNOHANG)
    if ended:
        print('exit', os.waitstatus_to_exitcode(status))
        break
    time.sleep(0.05)
else:
    os.kill(pid, 9)
    print('still runs')
`;

function commandOf(workspace: string): string[] {
  return [
    process.execPath,
    launcher,
    'server',
    'start',
    '--bind',
    '127.0.0.1:0',
    '--workspace-dir',
    workspace,
  ];
}

describe('a server whose output goes nowhere', () => {
  it.skipIf(!hasPython)('stops in order when its terminal is closed', async () => {
    const workspace = home.file('terminal');
    const args = ['-c', terminal, 'portolan serves', ...commandOf(workspace)];
    const { stdout, stderr } = await run('python3', args, { env: home.env });
    expect([stdout, stderr]).toEqual(['exit 0\n', '']);
    expect([
      existsSync(join(workspace, 'service.db')),
      existsSync(join(workspace, 'workspace.lock')),
    ]).toEqual([true, false]);
  });

  it('works on and stops when the reader of its log is gone', async () => {
    const workspace = home.file('pipe');
    const [command, ...args] = commandOf(workspace) as [string, ...string[]];
    const child = spawn(command, args, { env: home.env, stdio: ['ignore', 'ignore', 'pipe'] });
    try {
      const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
      await new Promise((resolve) => child.stderr.once('data', resolve));
      child.stderr.destroy();
      const lock = join(workspace, 'workspace.lock');
      const url = () => (JSON.parse(readFileSync(lock, 'utf8')) as { url: string }).url;
      await expect.poll(url).toMatch(/:\d+$/);
      await expect.poll(async () => (await fetch(`${url()}/readyz`)).status).toBe(200);
      child.kill('SIGHUP');
      await expect.poll(() => existsSync(join(workspace, '.reload.json'))).toBe(true);
      child.kill('SIGTERM');
      expect(await ended).toBe(0);
    } finally {
      child.kill('SIGKILL');
    }
  });
});
