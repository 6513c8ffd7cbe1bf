import { loadSys, type Sys } from '../../net/packets/linux/sys.ts';

/** Notifications to the service manager (sd_notify(3)). */
export interface ServiceNotifier {
  ready(): void;
  /** A reload has started; `ready` ends it. */
  reloading(): void;
  /** Shutdown has started; the watchdog is no longer fed. */
  stopping(): void;
}

const afUnix = 1;
const sockDgramCloexec = 2 | 0o2000000;
const msgNosignalDontwait = 0x4000 | 0x40;
/** `sun_path` of struct sockaddr_un (unix(7)), bytes. */
const maxPathBytes = 108;

const nobody: ServiceNotifier = { ready() {}, reloading() {}, stopping() {} };

/**
 * Notifies the service manager that started this process (systemd: `Type=notify`) and feeds its watchdog twice per
 * interval. Does nothing without NOTIFY_SOCKET. Removes the variables from `env`, so that child processes cannot
 * impersonate this one.
 *
 * @param onFault called once when the manager cannot be reached
 */
export function openServiceNotifier(
  env: NodeJS.ProcessEnv,
  onFault: (message: string) => void,
): ServiceNotifier {
  const { NOTIFY_SOCKET: path, WATCHDOG_USEC: microseconds, WATCHDOG_PID: watched } = env;
  for (const name of ['NOTIFY_SOCKET', 'WATCHDOG_USEC', 'WATCHDOG_PID']) delete env[name];
  if (!path) return nobody;
  const send = sender(path, onFault);
  const mine = watched === undefined || watched === '' || Number(watched) === process.pid;
  const everyMs = mine ? Math.floor(Number(microseconds ?? 0) / 2000) : 0;
  const feeder = everyMs > 0 ? setInterval(() => send('WATCHDOG=1'), everyMs).unref() : null;
  return {
    ready: () => send('READY=1'),
    reloading: () => send(`RELOADING=1\nMONOTONIC_USEC=${process.hrtime.bigint() / 1000n}`),
    stopping: () => {
      if (feeder) clearInterval(feeder);
      send('STOPPING=1');
    },
  };
}

/** Sends one datagram per message through a system call: Node.js has no Unix datagram sockets. */
function sender(path: string, onFault: (message: string) => void): (message: string) => void {
  let reported = false;
  const fail = (reason: string) => {
    if (!reported) onFault(`cannot notify the service manager: ${reason}`);
    reported = true;
  };
  return (message) => {
    try {
      const sys = loadSys();
      if (!sendDatagram(sys, path, message)) fail(`errno ${sys.errno()}`);
    } catch (error) {
      fail((error as Error).message);
    }
  };
}

function sendDatagram(sys: Sys, path: string, message: string): boolean {
  const address = socketAddress(path);
  const fd = sys.socket(afUnix, sockDgramCloexec, 0);
  if (fd < 0) return false;
  try {
    const bytes = Buffer.from(message);
    const sent = sys.sendto(fd, bytes, bytes.length, msgNosignalDontwait, address, address.length);
    return sent === bytes.length;
  } finally {
    sys.close(fd);
  }
}

/** struct sockaddr_un; a name with a leading `@` is in the abstract namespace. */
function socketAddress(path: string): Uint8Array {
  const name = Buffer.from(path);
  if (name.length >= maxPathBytes || !/^[/@]/.test(path))
    throw new Error('NOTIFY_SOCKET is not a socket path');
  const isAbstract = path.startsWith('@');
  if (isAbstract) name[0] = 0;
  const family = Buffer.alloc(2);
  new DataView(family.buffer, family.byteOffset).setUint16(0, afUnix, isLittleEndian);
  return Buffer.concat([family, name, ...(isAbstract ? [] : [Buffer.alloc(1)])]);
}

const isLittleEndian = new Uint8Array(new Uint16Array([1]).buffer)[0] === 1;
