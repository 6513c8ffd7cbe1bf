import { type Probe, requestProbe } from './probe.ts';

/** Probes of instruments, buses, debuggers, shared devices and RPKI caches. */

/** Reads the version; the header has version, length, type 2 = read, flags, size, offset. */
function owserverRead(path: string): Buffer {
  const name = Buffer.from(`${path}\0`, 'latin1');
  const header = Buffer.alloc(24);
  header.writeUInt32BE(name.length, 4);
  header.writeUInt32BE(2, 8);
  header.writeUInt32BE(8192, 16);
  return Buffer.concat([header, name]);
}

/**
 * Telnet servers negotiate options before they send text. The probe declines every option (RFC 854); the server then
 * sends its text.
 */
const telnet: Probe = {
  name: 'telnet',
  service: 'telnet',
  ports: [23, 2323],
  greeting: 'line',
  steps: [
    { send: (_host, said) => refusals(said), answer: 'telnet', proceed: /\xff[\xfb\xfd]/ },
    { send: (_host, said) => refusals(said), answer: 'telnet' },
  ],
};

const [will, wont, dont, command] = ['\xfb', '\xfc', '\xfe', '\xff'] as const;
/** Maximum number of options to decline. */
const optionLimit = 64;

/** `DONT` for each `WILL`, `WONT` for each `DO`, once. */
function refusals(said: Buffer): string {
  const requests = said.toString('latin1').matchAll(/\xff([\xfb\xfd])([^])/g);
  const replies = [...requests].map(
    ([, verb, option]) => `${command}${verb === will ? dont : wont}${option}`,
  );
  return [...new Set(replies)].slice(0, optionLimit).join('');
}

export const instrumentProbes: readonly Probe[] = [
  requestProbe('owserver', [4304], owserverRead('/system/configuration/version'), 'owserver'),
  // Information about the radio or rotator behind Hamlib, in the extended form that echoes the command.
  requestProbe('hamlib', [4532, 4533], '+\\get_info\n', 'line', { farewell: 'q\n' }),
  // The administration port of ser2net greets with its prompt.
  requestProbe('ser2net', [], 'version\r\n', 'all', { farewell: 'exit\r\n' }),
  // A request with an undefined number: the daemon rejects it and does nothing.
  requestProbe('eibd', [6720], Buffer.from([0, 2, 0xff, 0xfe]), 'dns'),
  // Features of a GDB stub; its program is already stopped for any client.
  requestProbe('gdb-remote', [2331, 2345], '$qSupported#37', 'gdb', { alsoPorts: [1234, 3333] }),
  // The Tcl port of OpenOCD; requests end with the byte 26.
  requestProbe('openocd', [], 'version\x1a', 'all', { alsoPorts: [6666] }),
  // OP_REQ_DEVLIST, version 1.1.1: the exported devices.
  requestProbe('usbip', [3240], Buffer.from([1, 0x11, 0x80, 5, 0, 0, 0, 0]), 'all'),
  // SANE_NET_INIT, version 1.0.3, without a name.
  requestProbe('sane', [6566], Buffer.from([0, 0, 0, 0, 1, 0, 0, 3, 0, 0, 0, 0]), 'eight', {
    farewell: '\0\0\0\x0a',
  }),
  // ANTOAN_GET_VERSION, id 1: every kind of MooseFS server responds without authentication.
  requestProbe(
    'moosefs',
    [9419, 9420, 9421, 9422],
    Buffer.from([0, 0, 0, 10, 0, 0, 0, 4, 0, 0, 0x50, 0x4f]),
    'moosefs',
  ),
  // Lists the instruments and their properties; sets nothing.
  requestProbe('indi', [7624], '<getProperties version="1.7"/>\n', 'line'),
  // Tversion of 9P, without a tag, with messages of 8192 bytes and the dialect of Linux; no session follows.
  requestProbe(
    '9p',
    [564, 5640],
    Buffer.from('\x15\0\0\0\x64\xff\xff\0\x20\0\0\x08\x009P2000.L', 'latin1'),
    'mongodb',
  ),
  // Serial query of version 0 for an unknown session, RFC 6810 section 5.3: reset, or an error with a text.
  requestProbe(
    'rpki-rtr',
    [323, 8282, 3323],
    Buffer.from([0, 1, 0x50, 0x4f, 0, 0, 0, 12, 0, 0, 0, 0]),
    'rtr',
  ),
  requestProbe('i2p-sam', [7656], 'HELLO VERSION\n', 'line'),
  telnet,
];
