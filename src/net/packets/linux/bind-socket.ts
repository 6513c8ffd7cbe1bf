import type { Family } from '../../../domain/targets/address.ts';
import type { BoundAddress, SocketEgress } from '../../egress.ts';
import { socketNames, writeSocketName } from './socket-name.ts';
import { errnoName, loadSys, nonblockCloexec, type Sys, socketTypes, u32 } from './sys.ts';

const solIp = 0;
const solSocket = 1;
const solIpv6 = 41;
const soBindToDevice = 25;
/** IP_BIND_ADDRESS_NO_PORT: the kernel picks the port at connect(), so that destinations share ports. */
const bindAddressNoPort = 24;
const ipv6Only = 26;
const eperm = 1;

/** Any address: it stays zero. */
const anyAddress = new Uint8Array(0);

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
  const fd = sys.socket(socketNames[egress.family].domain, socketTypes[kind] | nonblockCloexec, 0);
  const errno = fd < 0 ? sys.errno() : bindSocket(sys, fd, egress);
  if (errno === 0) return fd;
  if (fd >= 0) sys.close(fd);
  throw Object.assign(new Error(`cannot bind: ${errnoName(errno)}`), { code: errnoName(errno) });
}

function nameOf(family: Family, source: BoundAddress | null, port: number): Buffer {
  const name = Buffer.alloc(socketNames[family].length);
  writeSocketName(name, family, source?.bytes ?? anyAddress, source?.scopeId ?? 0, port);
  return name;
}
