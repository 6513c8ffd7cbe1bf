import { parsePorts } from '../../domain/port.ts';
import { portCatalog } from '../../knowledge/ports.ts';

/** TCP ports of the option `ports` without those of `exclude_ports`, ascending. @throws PortolanError for bad texts */
export function plannedTcpPorts(options: { ports: string; exclude_ports: string }): number[] {
  const planned = parsePorts(options.ports, portCatalog).tcp;
  if (options.exclude_ports.trim() === '') return planned;
  const excluded = new Set(parsePorts(options.exclude_ports, portCatalog).tcp);
  return planned.filter((port) => !excluded.has(port));
}

/** Number of ports of the catalog, most frequent first, that are tried before all others: those that `common` means. */
const likelyPorts = 100;

/** Those of the ports that are to be tried first: a scan that is stopped has seen them. */
export function likelyFirst(ports: readonly number[]): number[] {
  const planned = new Set(ports);
  return portCatalog.ranked.slice(0, likelyPorts).filter((port) => planned.has(port));
}

/** UDP ports of the option `ports` without those of `exclude_ports`, ascending. @throws PortolanError for bad texts */
export function plannedUdpPorts(options: { ports: string; exclude_ports: string }): number[] {
  const planned = parsePorts(options.ports, portCatalog, 'udp').udp;
  if (options.exclude_ports.trim() === '') return planned;
  const excluded = new Set(parsePorts(options.exclude_ports, portCatalog, 'udp').udp);
  return planned.filter((port) => !excluded.has(port));
}
