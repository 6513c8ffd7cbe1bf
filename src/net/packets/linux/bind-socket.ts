import type { Family } from '../../../domain/targets/address.ts';
import type { BoundAddress, SocketEgress } from '../../egress.ts';
import { errnoName, loadSys, type Sys, u32 } from './sys.ts';

const solIp = 0;
const solSocket = 1;
const solIpv6 = 41;
const soBindToDevice = 25;
/** IP_BIND_ADDRESS_NO_PORT: the kernel picks the port at connect(), so that destinations share ports. */
const bindAddressNoPort = 24;
const ipv6Only = 26;
const eperm = 1;

const families = {
  4: { domain: 2, nameLength: 16, addressAt: 4 },
  6: { domain: 10, nameLength: 28, addressAt: 8 },
} as const;

const streamNonblockCloexec = 1 | 0o4000 | 0o2000000;
const datagramNonblockCloexec = 2 | 0o4000 | 0o2000000;

/**
 * Binds a new socket to what was chosen of its way out. Since Linux 5.7 every process may bind to a device; before
 * that, one without CAP_NET_RAW gets the address of the device.
 * @returns an errno, 0 = done
 */
export function bindSocket(sys: Sys, fd: number, egress: SocketEgress): number {
  const { family, device, port } = egress;
  let { source } = egress;
  if (device !== '') {
    const name = Buffer.from(`${device}\0`, 'latin1');
    if (sys.setsockopt(fd, solSocket, soBindToDevice, name, name.length) < 0) {
      const errno = sys.errno();
      if (errno !== eperm || egress.deviceSource === null) return errno;
      source ??= egress.deviceSource;
    }
  }
  if (source === null && port === 0) return 0;
  const on = u32(1);
  // Otherwise the same port could not be taken for IPv4.
  if (family === 6) sys.setsockopt(fd, solIpv6, ipv6Only, on, on.length);
  if (port === 0) sys.setsockopt(fd, solIp, bindAddressNoPort, on, on.length);
  const name = nameOf(family, source, port);
  return sys.bind(fd, name, name.length) < 0 ? sys.errno() : 0;
}

/** A bound socket; the caller closes it. @throws Error with `code`, an errno name */
export function boundSocket(kind: 'stream' | 'datagram', egress: SocketEgress): number {
  const sys = loadSys();
  const type = kind === 'stream' ? streamNonblockCloexec : datagramNonblockCloexec;
  const fd = sys.socket(families[egress.family].domain, type, 0);
  const errno = fd < 0 ? sys.errno() : bindSocket(sys, fd, egress);
  if (errno === 0) return fd;
  if (fd >= 0) sys.close(fd);
  throw Object.assign(new Error(`cannot bind: ${errnoName(errno)}`), { code: errnoName(errno) });
}

function nameOf(family: Family, source: BoundAddress | null, port: number): Buffer {
  const { domain, nameLength, addressAt } = families[family];
  const name = Buffer.alloc(nameLength);
  name.writeUInt16LE(domain, 0);
  name.writeUInt16BE(port, 2);
  if (source) name.set(source.bytes, addressAt);
  if (family === 6 && source) name.writeUInt32LE(source.scopeId, 24);
  return name;
}
