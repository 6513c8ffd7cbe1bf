import { afPacket, errnoName, socketTypes, sysOrReason } from './sys.ts';

const nothingReceived = 0;

/** How to get the privilege that raw packets require. */
const howToGrant =
  'grant CAP_NET_RAW: AmbientCapabilities=CAP_NET_RAW in the systemd unit, --cap-add NET_RAW for a container, or run ' +
  'the program as root (setpriv --ambient-caps +net_raw works too)';

/** Why this process may not send and receive raw packets, or null. */
export function rawObstacle(): string | null {
  return packetSocketObstacle((errno) => `raw packets are not permitted (${errno}); ${howToGrant}`);
}

/** Why this process cannot open a packet socket, or null. */
export function packetSocketProblem(): string | null {
  return packetSocketObstacle(packetRejection);
}

/** @param errno name of the error of socket(2) */
export function packetRejection(errno: string): string {
  return `cannot open a packet socket (${errno}); grant CAP_NET_RAW`;
}

function packetSocketObstacle(because: (errno: string) => string): string | null {
  const sys = sysOrReason();
  if ('reason' in sys) return sys.reason;
  const fd = sys.socket(afPacket, socketTypes.raw, nothingReceived);
  if (fd < 0) return because(errnoName(sys.errno()));
  sys.close(fd);
  return null;
}
