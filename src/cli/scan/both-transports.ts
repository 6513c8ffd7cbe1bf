import { usage } from '../terminal/failure.ts';

/** The ports of the profile `standard`. */
const usualPorts = 'top-1000';

/**
 * A port list for TCP and UDP alike: for UDP the ports that are usual there take the place of `common` and `top-N`, which
 * rank TCP ports only. A list with `T:` or `U:` says itself what it means.
 * @throws PortolanError `usage` without ports beside a profile, whose own ports only the scan knows
 */
export async function withUdpPorts(ports: string | undefined, profile: string | undefined): Promise<string> {
  if (ports !== undefined && /(?:^|,)\s*[TU]:/i.test(ports)) return ports;
  if (ports === undefined && profile !== undefined && profile !== 'standard')
    throw usage(`TCP and UDP with the profile "${profile}" need a port list`, '-p 22,443,U:53,161');
  const list = ports ?? usualPorts;
  const items = list.split(',').map((item) => item.trim());
  const named = items.filter((item) => !/^(?:common|top[-:].*)$/i.test(item));
  const usual = named.length < items.length ? [await usualUdpPorts()] : [];
  return `T:${list},U:${[...named, ...usual].join(',')}`;
}

async function usualUdpPorts(): Promise<string> {
  const { commonUdpPorts } = await import('../../knowledge/requests/udp-payloads.ts');
  return commonUdpPorts.join(',');
}
