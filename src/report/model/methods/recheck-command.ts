import type { ScanRequest } from '../../../domain/scan.ts';
import { formatAddress, parseAddress } from '../../../domain/targets/address.ts';
import { AddressSet, type Interval } from '../../../domain/targets/address-set.ts';
import type { Action } from '../report.ts';
import { repeatCommand } from './repeat-command.ts';

/**
 * The command that looks again at the places of an action, with the settings of the scan; that of the whole scan if they
 * are too many. Null if the request is unknown.
 */
export function recheckCommand(request: ScanRequest | null, action: RecheckedAction): string | null {
  if (request === null) return null;
  const { exclude_ports: _left, ...options } = request.options ?? {};
  const whole = { ...request, options };
  const targets = targetsOf(action);
  if (targets === null) return repeatCommand(request);
  const ports = portsOf(action) ?? request.ports;
  const command = repeatCommand({ ...whole, targets: [targets], exclude: [], ports });
  return command.includes(' --target-file ') ? repeatCommand(request) : command;
}

type RecheckedAction = Pick<Action, 'places' | 'placesLeft'>;

/** `192.0.2.14-15,192.0.2.21`; null if not all places are known, or one is no address. */
function targetsOf({ places, placesLeft }: RecheckedAction): string | null {
  const addresses = [...new Set(places.map(({ host }) => host))].map(parseAddress);
  if (placesLeft > 0 || addresses.length === 0) return null;
  const intervals = addresses.flatMap((address) => {
    if (address === null) return [];
    const { family, value, zone } = address;
    return [{ family, first: value, last: value, zone }];
  });
  if (intervals.length < addresses.length) return null;
  return AddressSet.of(intervals).intervals.map(intervalText).join(',');
}

function intervalText({ family, first, last, zone = null }: Interval): string {
  const [from, to] = [first, last].map((value) => formatAddress({ family, value, zone })) as [string, string];
  if (first === last) return from;
  const sameNetwork = family === 4 && first >> 8n === last >> 8n;
  return `${from}-${sameNetwork ? to.slice(to.lastIndexOf('.') + 1) : to}`;
}

/** `22,443,U:161`; null if a finding is of a host as a whole. */
function portsOf({ places }: RecheckedAction): string | null {
  if (places.some(({ port }) => port === null)) return null;
  const [tcp, udp] = ['tcp', 'udp'].map((protocol) => {
    const own = places.filter((place) => (place.protocol ?? 'tcp') === protocol).map(({ port }) => port);
    return [...new Set(own as number[])].sort((a, b) => a - b).join(',');
  });
  return [tcp, udp && `U:${udp}`].filter(Boolean).join(',');
}
