import type { Probe } from './probe.ts';

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

const owserver: Probe = {
  name: 'owserver',
  service: 'owserver',
  ports: [4304],
  greeting: null,
  steps: [{ send: owserverRead('/system/configuration/version'), answer: 'owserver' }],
};

/** Information about the radio or rotator behind Hamlib, in the extended form that echoes the command. */
const hamlib: Probe = {
  name: 'hamlib',
  service: 'hamlib',
  ports: [4532, 4533],
  greeting: null,
  steps: [{ send: '+\\get_info\n', answer: 'line' }],
  farewell: 'q\n',
};

/** The administration port of ser2net greets with its prompt. */
const ser2net: Probe = {
  name: 'ser2net',
  service: 'ser2net',
  ports: [],
  greeting: null,
  steps: [{ send: 'version\r\n', answer: 'all' }],
  farewell: 'exit\r\n',
};

/** A request with an undefined number: the daemon rejects it and does nothing. */
const eibd: Probe = {
  name: 'eibd',
  service: 'eibd',
  ports: [6720],
  greeting: null,
  steps: [{ send: Buffer.from([0, 2, 0xff, 0xfe]), answer: 'dns' }],
};

/** Features of a GDB stub; its program is already stopped for any client. */
const gdbRemote: Probe = {
  name: 'gdb-remote',
  service: 'gdb-remote',
  ports: [2331, 2345],
  alsoPorts: [1234, 3333],
  greeting: null,
  steps: [{ send: '$qSupported#37', answer: 'gdb' }],
};

/** The Tcl port of OpenOCD; requests end with the byte 26. */
const openocd: Probe = {
  name: 'openocd',
  service: 'openocd',
  ports: [],
  alsoPorts: [6666],
  greeting: null,
  steps: [{ send: 'version\x1a', answer: 'all' }],
};

/** OP_REQ_DEVLIST, version 1.1.1: the exported devices. */
const usbip: Probe = {
  name: 'usbip',
  service: 'usbip',
  ports: [3240],
  greeting: null,
  steps: [{ send: Buffer.from([1, 0x11, 0x80, 5, 0, 0, 0, 0]), answer: 'all' }],
};

/** SANE_NET_INIT, version 1.0.3, without a name. */
const sane: Probe = {
  name: 'sane',
  service: 'sane',
  ports: [6566],
  greeting: null,
  steps: [{ send: Buffer.from([0, 0, 0, 0, 1, 0, 0, 3, 0, 0, 0, 0]), answer: 'eight' }],
  farewell: '\0\0\0\x0a',
};

/** ANTOAN_GET_VERSION, id 1: every kind of MooseFS server responds without authentication. */
const moosefs: Probe = {
  name: 'moosefs',
  service: 'moosefs',
  ports: [9419, 9420, 9421, 9422],
  greeting: null,
  steps: [{ send: Buffer.from([0, 0, 0, 10, 0, 0, 0, 4, 0, 0, 0x50, 0x4f]), answer: 'moosefs' }],
};

/** Lists the instruments and their properties; sets nothing. */
const indi: Probe = {
  name: 'indi',
  service: 'indi',
  ports: [7624],
  greeting: null,
  steps: [{ send: '<getProperties version="1.7"/>\n', answer: 'line' }],
};

/** Tversion of 9P, without a tag, with messages of 8192 bytes and the dialect of Linux; no session follows. */
const plan9: Probe = {
  name: '9p',
  service: '9p',
  ports: [564, 5640],
  greeting: null,
  steps: [
    { send: Buffer.from('\x15\0\0\0\x64\xff\xff\0\x20\0\0\x08\x009P2000.L', 'latin1'), answer: 'mongodb' },
  ],
};

/** Serial query of version 0 for an unknown session, RFC 6810 section 5.3: reset, or an error with a text. */
const rpkiToRouter: Probe = {
  name: 'rpki-rtr',
  service: 'rpki-rtr',
  ports: [323, 8282, 3323],
  greeting: null,
  steps: [{ send: Buffer.from([0, 1, 0x50, 0x4f, 0, 0, 0, 12, 0, 0, 0, 0]), answer: 'rtr' }],
};

const samBridge: Probe = {
  name: 'i2p-sam',
  service: 'i2p-sam',
  ports: [7656],
  greeting: null,
  steps: [{ send: 'HELLO VERSION\n', answer: 'line' }],
};

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
  owserver,
  hamlib,
  ser2net,
  eibd,
  gdbRemote,
  openocd,
  usbip,
  sane,
  moosefs,
  indi,
  plan9,
  rpkiToRouter,
  samBridge,
  telnet,
];
