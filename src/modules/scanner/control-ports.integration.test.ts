import type { Socket } from 'node:net';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { closeServers, listen, tryModule } from '../../../test/module-trial.ts';
import type { Banner } from '../../domain/text/banner.ts';
import { observedService } from '../../knowledge/rules/claims.ts';
import banner_grabber from './banner_grabber.ts';
import connect_scanner from './connect_scanner.ts';

/** No other test scans it. */
const host = '127.86.0.9';

const hex = (text: string) => Buffer.from(text.replaceAll(' ', ''), 'hex');
const latin1 = (text: string) => Buffer.from(text, 'latin1');

/** What a device has seen. */
interface Device {
  connections: number;
  /** Bytes that it does not expect. */
  wrong: Buffer[];
  requests: number;
  /** How each connection ended. */
  ends: string[];
}

let device: Device;
beforeEach(() => {
  device = { connections: 0, wrong: [], requests: 0, ends: [] };
});
afterEach(closeServers);

/** A device that knows one request, answers it once per connection, and fails on any other byte. */
function strictDevice(request: Buffer | null, response: Buffer) {
  return (socket: Socket) => {
    device.connections += 1;
    let received = Buffer.alloc(0);
    socket.on('data', (bytes) => {
      received = Buffer.concat([received, bytes]);
      if (!request?.subarray(0, received.length).equals(received)) {
        device.wrong.push(bytes);
        socket.destroy();
      } else if (received.length === request.length) {
        device.requests += 1;
        socket.write(response);
      }
    });
    socket.on('end', () => device.ends.push('FIN'));
    socket.on('error', () => device.ends.push('reset'));
  };
}

async function grab(port: number, config: Record<string, unknown> = {}): Promise<Banner[]> {
  const { published } = await tryModule(banner_grabber, {
    config: { timeout: '400ms', tls_enumerate: true, ...config },
    inputs: { open_ports: [{ host, port, protocol: 'tcp', state: 'open', reason: 'syn-ack' }] },
    targets: [host],
  });
  return published.get('banners') as Banner[];
}

const modbusRequest = hex('504f 0000 0005 ff 2b0e0100');
const identity = Buffer.concat([
  hex('6300 2e00 00000000 00000000'),
  latin1('PORTOLAN'),
  hex('00000000 0100 0c00 2800 0100'),
  hex('0002af12 0a000001 0000000000000000'),
  hex('0100 0e00 3600 1402 3000 78563412 06'),
  latin1('1756-L'),
  hex('00'),
]);
const foxHello =
  'fox a 0 -1 fox hello\n{\nfox.version=s:1.0.1\nhostName=s:plant-7\napp.version=s:3.8.38\n};;\n';

const devices: [kind: string, port: number, request: Buffer, response: Buffer, service: string][] = [
  ['Modbus', 502, modbusRequest, hex('504f 0000 000e ff 2b0e01010000 01 00 04 41636d65'), 'modbus'],
  ['Modbus without identification', 502, modbusRequest, hex('504f 0000 0003 ff ab 01'), 'modbus'],
  [
    'S7',
    102,
    hex('03000016 11e00000504f00c0010ac1020100c2020102'),
    hex('03000016 11d0504f000300c0010ac1020100c2020102'),
    'iso-tsap',
  ],
  [
    'EtherNet/IP',
    44_818,
    Buffer.concat([hex('6300' + '00'.repeat(10)), latin1('PORTOLAN'), hex('00000000')]),
    identity,
    'ethernet-ip',
  ],
  ['IEC 60870-5-104', 2404, hex('680443000000'), hex('680483000000'), 'iec-104'],
  ['DNP3', 20_000, hex('056405c9fcff504f8cfe'), hex('0564050b504f0a00 0000'), 'dnp3'],
  [
    'Niagara Fox',
    1911,
    latin1('fox a 1 -1 fox hello\n{\nfox.version=s:1.0\nid=i:1\n};;\n'),
    latin1(foxHello),
    'niagara-fox',
  ],
  [
    'FINS',
    9600,
    hex('46494e53 0000000c 00000000 00000000 00000000'),
    hex('46494e53 00000010 00000001 00000000 000000fb 00000001'),
    'fins',
  ],
];

const mayBind = (port: number) => port >= 1024 || process.getuid?.() === 0;

it.each(devices.filter(([, port]) => mayBind(port)))(
  'a strict %s device at port %d gets its own request on one connection, and a FIN',
  async (_kind, port, request, response, service) => {
    await listen(strictDevice(request, response), host, port);
    const banners = await grab(port);
    expect(banners.map(observedService)).toEqual([service]);
    expect(banners[0]).not.toHaveProperty('unidentified_reason');
    await expect.poll(() => device).toEqual({ connections: 1, wrong: [], requests: 1, ends: ['FIN'] });
  },
);

it.each([2222, 4911, 5007, 11_740, 18_245, 20_547])(
  'a silent device at port %d, for which no harmless request is known, gets no byte, and the result says why',
  async (port) => {
    await listen(strictDevice(null, latin1('')), host, port);
    const [banner] = await grab(port);
    expect(banner).toMatchObject({ banner: '', unidentified_reason: 'fragile' });
    await expect.poll(() => device).toEqual({ connections: 1, wrong: [], requests: 0, ends: ['FIN'] });
  },
);

it('a device that rejects its request in another protocol gets no second one', async () => {
  const request = devices.find(([kind]) => kind === 'DNP3')?.[2] as Buffer;
  await listen(strictDevice(request, hex('15030100020228')), host, 20_000);
  const [banner] = await grab(20_000);
  expect(banner).toMatchObject({ unidentified_reason: 'fragile' });
  await expect.poll(() => device).toMatchObject({ connections: 1, wrong: [], requests: 1 });
});

it('a service that greets as another one, such as SSH, is probed as that', async () => {
  let said = '';
  await listen(
    (socket) => {
      socket.write('SSH-2.0-Trial_1.0\r\n');
      socket.on('data', (bytes) => (said += bytes.toString('latin1')));
    },
    host,
    2222,
  );
  const [banner] = await grab(2222, { tls_enumerate: false });
  expect(observedService(banner as Banner)).toBe('ssh');
  expect(said).toMatch(/^SSH-2\.0-Portolan\r\n/);
});

it('with intrusive the port is probed like any other', async () => {
  await listen(strictDevice(null, latin1('')), host, 20_000);
  const [banner] = await grab(20_000, { intrusive: true, tls_enumerate: false });
  expect(banner).not.toHaveProperty('unidentified_reason');
  expect(device.connections).toBeGreaterThan(1);
});

it('a sweep by connections ends them by a FIN', async () => {
  await listen(strictDevice(null, latin1('')), host, 20_000);
  const { published } = await tryModule(connect_scanner, {
    config: { ports: '20000', timeout: '400ms' },
    inputs: { targets: [] },
    targets: [host],
  });
  expect(published.get('open_ports')).toHaveLength(1);
  await expect.poll(() => device).toEqual({ connections: 1, wrong: [], requests: 0, ends: ['FIN'] });
});
