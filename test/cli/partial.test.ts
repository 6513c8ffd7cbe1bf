import { afterAll, describe, expect, it } from 'vitest';
import { Home } from './command.ts';
import { freePort, Listeners } from './listeners.ts';

const home = new Home();
const listeners = new Listeners();
afterAll(() => {
  listeners.close();
  home.remove();
});

/** Link-local addresses without an interface: nothing can be sent to them, whatever this machine is like. */
const unreachable = 'fe80::1-fe80::2';
const env = { SERVICE_SCANNER__SCOPE__ALLOW: '127.0.0.0/8,::1/128,fe80::/10' };

describe('a scan of which something could not be sent', () => {
  it.each([
    ['connections', ['--scan-type', 'connect', '--no-discover'], 2],
    ['many connections', ['--scan-type', 'connect', '--no-discover', '--rate', '30000'], 2],
    ['UDP', ['--scan-type', 'udp', '--no-discover'], 2],
    ['pings', ['--only-discover'], 0],
  ])('is partial, says why and ends with 7: %s', async (_name, flags, notTried) => {
    const args = ['scan', unreachable, ...flags, '--ports', '7', '--retries', '0', '--timeout', '1s'];
    const { code, stdout } = await home.run([...args, '--no-workspace', '--format', 'json'], { env });
    const { status, partial, summary, warnings } = JSON.parse(stdout);
    expect([status, partial, code]).toEqual(['completed', true, 7]);
    expect(summary.coverage?.not_tried ?? 0).toBe(notTried);
    expect(warnings.map(({ message }: { message: string }) => message).join('\n')).toMatch(
      /a link-local address needs an interface/,
    );
  });

  it('keeps what was found, and counts what was not tried', async () => {
    const port = await listeners.greet('SSH-2.0-x\r\n');
    const flags = ['--no-discover', '--scan-type', 'connect', '--timeout', '1s', '--no-workspace'];
    const args = ['scan', '127.0.0.1,fe80::1', ...flags, '--ports', `${port},${await freePort()}`];
    const { code, stdout } = await home.run(args, { env });
    expect(code).toBe(7);
    expect(stdout).toContain(`${port}/tcp  open`);
    expect(stdout).toContain('partial: 2 of 4 ports not tried; its warnings say what is missing');
  });
});
