import { listIdentity } from '../requests/control-requests.ts';
import { type Probe, requestProbe } from './probe.ts';

/**
 * Ports of control systems, over TCP and UDP. Such a device reads whatever arrives as a request of its own protocol: a
 * TLS hello at port 502 reads as a command to write a coil. docs/probes.md lists them with the reason.
 */
export const controlPorts: ReadonlySet<number> = new Set([
  102, 502, 789, 802, 1089, 1090, 1091, 1153, 1217, 1911, 1962, 2221, 2222, 2404, 2455, 4059, 4911, 5006,
  5007, 5094, 9600, 11_740, 18_245, 18_246, 20_000, 20_547, 34_962, 34_963, 34_964, 34_980, 41_100, 44_818,
  47_808,
]);

/** Without `intrusive` such a port gets one exchange of its own protocol, or none, and nothing else. */
export function isControlPort(port: number): boolean {
  return controlPorts.has(port);
}

/** Read Device Identification, basic objects, Modbus Application Protocol 1.1b3 section 6.21. */
const modbusIdentity = (unit: number) => Buffer.from([0x50, 0x4f, 0, 0, 0, 5, unit, 0x2b, 0x0e, 1, 0]);

/** One read each, on one connection; none needs a login, changes anything or opens a session beyond the connection. */
export const controlProbes: readonly Probe[] = [
  {
    name: 'modbus',
    service: 'modbus',
    ports: [502],
    greeting: null,
    steps: [{ send: modbusIdentity(0xff), answer: 'modbus', proceed: /^PO\0\0[^]{2}\xff\x2b/ }],
    next: 'modbus-unit',
  },
  // The first device behind a gateway that rejects the request itself.
  requestProbe('modbus-unit', [], modbusIdentity(1), 'modbus', { service: 'modbus' }),
  // The connection request of ISO 8073 with our reference, to rack 0 and slot 2 of an S7.
  requestProbe('iso-tsap', [102], Buffer.from('0300001611e00000504f00c0010ac1020100c2020102', 'hex'), 'tpkt'),
  requestProbe('ethernet-ip', [44_818], listIdentity, 'enip'),
  // TESTFR act, IEC 60870-5-104 section 5.2: no data transfer is started.
  requestProbe('iec-104', [2404], Buffer.from('680443000000', 'hex'), 'apci'),
  // Request Link Status to the self-address, IEEE 1815 section 9.2.
  requestProbe('dnp3', [20_000], Buffer.from('056405c9fcff504f8cfe', 'hex'), 'ten'),
  requestProbe('niagara-fox', [1911], 'fox a 1 -1 fox hello\n{\nfox.version=s:1.0\nid=i:1\n};;\n', 'fox'),
  // FINS/TCP: request for a node address.
  requestProbe('fins', [9600], Buffer.from('46494e530000000c000000000000000000000000', 'hex'), 'fins'),
];

const controlServices: ReadonlySet<string | null> = new Set(controlProbes.map(({ service }) => service));

export function isControlService(service: string | null): boolean {
  return controlServices.has(service);
}

/** The probe of the control system usual on a port; null = there is no request known to be harmless. */
export function controlProbeForPort(port: number): Probe | null {
  return controlProbes.find(({ ports }) => ports.includes(port)) ?? null;
}
