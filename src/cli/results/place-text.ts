/** `192.0.2.1:22`, `[2001:db8::1]:53/udp`; a host alone without a port. */
export function placeText({
  host,
  port,
  protocol,
}: {
  host: string;
  port: number | null;
  protocol: string | null;
}): string {
  if (port === null) return host;
  return `${host.includes(':') ? `[${host}]` : host}:${port}${protocol === 'udp' ? '/udp' : ''}`;
}
