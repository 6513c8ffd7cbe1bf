import { parsePorts } from '../../domain/port.ts';
import { portCatalogue } from '../../knowledge/ports.ts';

/** TCP ports of the option `ports` without those of `exclude_ports`, ascending. @throws PortolanError for bad texts */
export function plannedTcpPorts(options: { ports: string; exclude_ports: string }): number[] {
  const planned = parsePorts(options.ports, portCatalogue).tcp;
  if (options.exclude_ports.trim() === '') return planned;
  const excluded = new Set(parsePorts(options.exclude_ports, portCatalogue).tcp);
  return planned.filter((port) => !excluded.has(port));
}

/** UDP ports of the option `ports` without those of `exclude_ports`, ascending. @throws PortolanError for bad texts */
export function plannedUdpPorts(options: { ports: string; exclude_ports: string }): number[] {
  const planned = parsePorts(options.ports, portCatalogue, 'udp').udp;
  if (options.exclude_ports.trim() === '') return planned;
  const excluded = new Set(parsePorts(options.exclude_ports, portCatalogue, 'udp').udp);
  return planned.filter((port) => !excluded.has(port));
}
