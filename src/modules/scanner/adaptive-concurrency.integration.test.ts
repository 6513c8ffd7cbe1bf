import type { Socket } from 'node:net';
import { afterAll, describe, expect, it } from 'vitest';
import { closeServers, listen, loopbackGate, tryModule } from '../../../test/module-trial.ts';
import banner_grabber from './banner_grabber.ts';
import connect_scanner from './connect_scanner.ts';

afterAll(closeServers);

const greetLate = (socket: Socket) => setTimeout(() => socket.end('220 trial FTP ready\r\n'), 100);

/** Of loopback, from 127.N.0.1 on: the first address of a range names the network. */
const addresses = (second: number, count: number) =>
  Array.from({ length: count }, (_, index) => `127.${second}.${(index + 1) >> 8}.${(index + 1) & 255}`);

describe('without a requested concurrency', () => {
  it('every service is talked to', async () => {
    const port = await listen(greetLate, '0.0.0.0');
    const open = addresses(44, 300).map((host) => ({
      host,
      port,
      protocol: 'tcp',
      state: 'open',
      reason: 'x',
    }));
    const { published } = await tryModule(banner_grabber, {
      config: { concurrency: 0, rate: 100_000, tls: false, probes: 'none' },
      inputs: { open_ports: open },
      gate: loopbackGate(['127.44.0.0/23']),
    });
    const banners = published.get('banners') as { banner: string }[];
    expect(banners.filter(({ banner }) => banner.startsWith('220 trial'))).toHaveLength(300);
  });

  it('a sweep by connections finds every port', async () => {
    const port = await listen(() => undefined, '0.0.0.0');
    const { published } = await tryModule(connect_scanner, {
      config: { concurrency: 0, ports: `${port},9`, rate: 10_000 },
      inputs: { discovered_hosts: addresses(45, 300).map((ip) => ({ ip })) },
      gate: loopbackGate(['127.45.0.0/23']),
    });
    expect(published.get('open_ports')).toHaveLength(300);
  });
});
