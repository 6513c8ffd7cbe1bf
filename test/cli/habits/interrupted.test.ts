import { type ChildProcess, spawn } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Home, launcher } from '../command.ts';
import { HeldService } from '../held-service.ts';
import { Listeners } from '../listeners.ts';
import { runInTerminal } from '../terminal.ts';

const home = new Home();
const listeners = new Listeners();
const host = '127.86.4.1';
let ftp = 0;

beforeAll(async () => {
  ftp = await listeners.serve((socket) => socket.end('220 (vsFTPd 2.3.4)\r\n'), host);
});
afterAll(() => {
  listeners.close();
  home.remove();
});

/** What the store knows of the newest scan. */
async function stored() {
  const { scans } = JSON.parse((await home.run(['workspace', 'list', '--format', 'json'])).stdout);
  const { progress, results } = scans[0] as {
    progress: { hosts_done: number };
    results: { open_ports: number };
  };
  return { hosts_done: progress.hosts_done, open_ports: results.open_ports };
}

/** A scan that has found both ports and waits for the service that is held. */
async function heldScan() {
  const held = new HeldService();
  const port = await held.listen(listeners, host);
  const flags = ['--no-discover', '--ports', `${ftp},${port}`, '--timeout', '60s', '--format', 'jsonl'];
  const child: ChildProcess = spawn(launcher, ['scan', host, ...flags], { env: home.env });
  const closed = new Promise<NodeJS.Signals | null>((resolve) =>
    child.once('close', (_code, signal) => resolve(signal)),
  );
  let output = '';
  let errors = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    errors += chunk.toString();
  });
  await new Promise<void>((resolve) => {
    child.stdout?.on('data', (chunk: Buffer) => {
      output += chunk.toString();
      if (output.includes('vsftpd') && output.includes(`"port":${port},`)) resolve();
    });
  });
  const { scans } = JSON.parse((await home.run(['workspace', 'list', '--format', 'json'])).stdout);
  return { id: scans[0].scan_id as string, held, port, child, closed, errors: () => errors };
}

describe('a second Ctrl-C', () => {
  it('ends at once by the signal, and says what is kept', async () => {
    const { id, child, closed, errors } = await heldScan();
    child.kill('SIGINT');
    await new Promise<void>((resolve) => child.stderr?.once('data', () => resolve()));
    // The stop of a scan takes as long as its modules do: press until it has ended.
    const pressing = setInterval(() => child.kill('SIGINT'), 200);
    const signal = await closed;
    clearInterval(pressing);
    expect(errors()).toMatch(/^stopping, results are kept \(Ctrl-C again ends at once\)\n/);
    // A scan that had stopped before the second key ends as after the first one.
    if (signal === 'SIGINT') expect(errors()).toContain(`ended; kept up to 1 s ago as ${id}\n`);
  });
});

describe('scan watch without a server', () => {
  it('prints what a scan of this workspace finds and its result, and has its exit code', async () => {
    const { id, held, port, closed } = await heldScan();
    const watched = await home.start(['scan', 'watch', id], {
      started: ({ stdout }) => {
        let seen = '';
        stdout?.on('data', (chunk: Buffer) => {
          seen += chunk.toString();
          if (seen.includes(`${host}:${ftp}  ftp, vsftpd 2.3.4`)) held.release();
        });
      },
    });
    await closed;
    expect(watched.code).toBe(0);
    expect(watched.stdout).toContain(`${host}:${port}  ssh, OpenSSH 9.2p1\n`);
    expect(watched.stdout).toMatch(/\n1 host up, 2 open ports in .*\n$/);
  });

  it('ends with Ctrl-C, and the scan goes on', async () => {
    const { id, held, closed } = await heldScan();
    const watched = await home.start(['scan', 'watch', 'latest'], {
      started: (child) => void child.stdout?.once('data', () => child.kill('SIGINT')),
    });
    expect([watched.code, watched.stderr]).toEqual([1, `the scan goes on: portolan scan watch ${id}\n`]);
    held.release();
    expect(await closed).toBe(null);
  });
});

describe('scan resume without a server', () => {
  it('goes on with a scan that was killed, from its checkpoint, and says so', async () => {
    const { id, held, port, child, closed } = await heldScan();
    // A checkpoint says that all ports are tried.
    await expect.poll(stored, { interval: 50 }).toEqual({ hosts_done: 1, open_ports: 2 });
    child.kill('SIGKILL');
    await closed;
    const again = await home.run(['scan', 'watch', id]);
    expect([again.code, again.stderr]).toEqual([7, expect.stringContaining(`portolan scan resume ${id}\n`)]);
    held.release();
    const hint = `continue the interrupted scan: portolan scan resume ${id}`;
    const list = ['workspace', 'list'];
    const listed = await runInTerminal(home, list, { columns: 120, apart: false, env: { NO_COLOR: '1' } });
    expect(listed.lines[1]).toMatch(new RegExp(`^${id} +interrupted`));
    expect(listed.lines.at(-1)).toBe(hint);
    const withoutHints = { SERVICE_CLI__HINTS: 'false' };
    const plain = await runInTerminal(home, list, { columns: 120, apart: false, env: withoutHints });
    expect(plain.stdout).not.toContain('continue');
    expect(await home.run(list)).toMatchObject({ code: 0, stderr: '' });
    const { code, stdout, stderr } = await home.run(['scan', 'resume', 'latest', '--format', 'json']);
    expect(stderr).toMatch(
      new RegExp(
        `^resuming ${id}, interrupted (?:now|\\d+ s ago): 1 of 1 address tried, 1 host, 2 open ports\n`,
      ),
    );
    expect(code).toBe(0);
    const { scan_id, status, results } = JSON.parse(stdout);
    expect({ scan_id, status }).toEqual({ scan_id: id, status: 'completed' });
    const products = results[0].ports.map((each: { port: number; service: { product: string } }) => [
      each.port,
      each.service?.product,
    ]);
    expect(Object.fromEntries(products)).toEqual({ [ftp]: 'vsftpd', [port]: 'OpenSSH' });
    const twice = await home.run(['scan', 'resume', id]);
    expect([twice.code, twice.stderr]).toEqual([1, `portolan: scan ${id} has ended: completed\n`]);
  });
});
