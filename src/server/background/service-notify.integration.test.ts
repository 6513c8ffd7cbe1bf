import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isInstalled } from '../../../test/installed.ts';
import { openServiceNotifier } from './service-notify.ts';

/** A service manager: prints each datagram as JSON. */
const listener = `
import json, socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
name = sys.argv[1]
s.bind('\\0' + name[1:] if name.startswith('@') else name)
print('ready', flush=True)
while True:
    print(json.dumps(s.recv(4096).decode()), flush=True)
`;

let dir: string;
const children: ChildProcess[] = [];
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'portolan-notify-'));
});
afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  await rm(dir, { recursive: true, force: true });
});

async function manager(path: string): Promise<string[]> {
  const child = spawn('python3', ['-c', listener, path], { stdio: ['ignore', 'pipe', 'inherit'] });
  children.push(child);
  const said: string[] = [];
  let rest = '';
  await new Promise<void>((resolve) => {
    child.stdout.on('data', (part: Buffer) => {
      const lines = (rest + part).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) {
        if (line === 'ready') resolve();
        else said.push(JSON.parse(line));
      }
    });
  });
  return said;
}

describe('service manager', () => {
  it.runIf(isInstalled('python3')).each(['path', 'abstract'])(
    'receives start, reload, stop and watchdog messages (%s socket)',
    async (kind) => {
      const path = kind === 'path' ? join(dir, 'notify') : `@portolan-${process.pid}-${Date.now()}`;
      const said = await manager(path);
      const env = {
        NOTIFY_SOCKET: path,
        WATCHDOG_USEC: '200000',
        WATCHDOG_PID: String(process.pid),
        OTHER: 'x',
      };
      const faults: string[] = [];
      const notifier = openServiceNotifier(env, (message) => faults.push(message));
      expect(env).toEqual({ OTHER: 'x' });
      notifier.ready();
      notifier.reloading();
      notifier.ready();
      await sleep(350);
      notifier.stopping();
      await sleep(250);
      expect(faults).toEqual([]);
      expect(said[0]).toBe('READY=1');
      expect(said[1]).toMatch(/^RELOADING=1\nMONOTONIC_USEC=\d+$/);
      expect(said[2]).toBe('READY=1');
      expect(said.slice(3, -1).length).toBeGreaterThanOrEqual(2);
      expect(new Set(said.slice(3, -1))).toEqual(new Set(['WATCHDOG=1']));
      expect(said.at(-1)).toBe('STOPPING=1');
    },
  );

  it('does nothing without one, and leaves the watchdog of another process alone', () => {
    const notifier = openServiceNotifier({}, () => expect.unreachable());
    notifier.ready();
    notifier.stopping();
  });

  it('that cannot be reached is no reason to stop; it is said once', () => {
    const faults: string[] = [];
    const notifier = openServiceNotifier({ NOTIFY_SOCKET: join(dir, 'nobody') }, (message) =>
      faults.push(message),
    );
    notifier.ready();
    notifier.stopping();
    expect(faults).toHaveLength(1);
    const odd = openServiceNotifier({ NOTIFY_SOCKET: `/${'x'.repeat(200)}` }, (message) =>
      faults.push(message),
    );
    odd.ready();
    expect(faults).toHaveLength(2);
  });
});
