/**
 * Accepts every connection that the packet filter of the network lab hands over, whatever its address and port, and
 * says nothing. Prints its port; ends when its standard input ends.
 *
 *   node bench/netlab-listener.ts
 */
import { createServer } from 'node:net';
import { loadSys } from '../src/net/packets/linux/sys.ts';

const afInet = 2;
const sockStream = 1;
const solIp = 0;
const ipTransparent = 19;
const port = 7788;
/** Half-open and waiting connections; net.core.somaxconn of the lab is as large. */
const backlog = 65_535;

const one = new Uint8Array(new Uint32Array([1]).buffer);
/** sockaddr_in (ip(7)): family in the order of the machine, port and address in that of the network. */
const loopback = Uint8Array.of(afInet, 0, port >> 8, port & 0xff, 127, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0);

const sys = loadSys();
const fd = sys.socket(afInet, sockStream, 0);
if (sys.setsockopt(fd, solIp, ipTransparent, one, one.length) < 0 || sys.bind(fd, loopback, 16) < 0) {
  throw new Error(`no transparent socket: errno ${sys.errno()}`);
}
createServer((socket) => socket.on('error', () => {}).resume()).listen({ fd, backlog }, () => {
  process.stdout.write(`${port}\n`);
});
process.stdin.on('end', () => process.exit(0)).resume();
