import { errnoName, loadSys } from './sys.ts';

const afPacket = 17;
const sockRaw = 3;
const nothingReceived = 0;

/** How to get the privilege that raw packets require. */
const howToGrant =
  'grant CAP_NET_RAW: AmbientCapabilities=CAP_NET_RAW in the systemd unit, --cap-add NET_RAW for a container, or run ' +
  'the program as root (setpriv --ambient-caps +net_raw works too)';

/** Why this process may not send and receive raw packets, or null. */
export function rawObstacle(): string | null {
  try {
    const sys = loadSys();
    const fd = sys.socket(afPacket, sockRaw, nothingReceived);
    if (fd < 0) return `raw packets are not permitted (${errnoName(sys.errno())}); ${howToGrant}`;
    sys.close(fd);
    return null;
  } catch (error) {
    return (error as Error).message;
  }
}
