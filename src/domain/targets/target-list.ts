import { anyInterface, parseTargets, splitTargets } from './target.ts';

/** What a list file names. */
export interface TargetFile {
  /** In the given order, each once, mistakes too: these are for the check that names them. */
  targets: string[];
  /** URLs and `host:port` whose host was taken, in the given order. */
  reduced: string[];
  /** Their ports, ascending, each once. */
  ports: number[];
  /** Lines of a hosts file that were left out: their address belongs to no single host. */
  left: string[];
}

/** Names that hosts files give to addresses of groups. */
const groupNames = new Set([
  'broadcasthost',
  'ip6-allhosts',
  'ip6-allnodes',
  'ip6-allrouters',
  'ip6-localnet',
  'ip6-mcastprefix',
]);

/**
 * Reads a list: targets separated by lines, blanks, tabs or commas; `#` starts a comment. A line of `/etc/hosts` is an
 * address and its names. A URL or `host:port` means its host.
 */
export function readTargetList(text: string): TargetFile {
  const file: TargetFile = { targets: [], reduced: [], ports: [], left: [] };
  const ports = new Set<number>();
  for (const line of text.split(/\r\n|[\n\r]/)) {
    const content = withoutComment(line);
    if (content === '') continue;
    const items = splitTargets(content);
    if (isGroupOfHosts(items)) {
      file.left.push(items.join(' '));
      continue;
    }
    for (const item of items) {
      const endpoint = endpointOf(item);
      file.targets.push(endpoint?.host ?? item);
      if (endpoint === null) continue;
      file.reduced.push(item);
      if (endpoint.port !== null) ports.add(endpoint.port);
    }
  }
  return { ...file, targets: [...new Set(file.targets)], ports: [...ports].sort((a, b) => a - b) };
}

/** Trimmed, without the comma that may end a line. */
function withoutComment(line: string): string {
  const text = line.replace(/(?:^|\s)#.*$/s, '').trim();
  return text.endsWith(',') && !text.endsWith(',,') ? text.slice(0, -1).trim() : text;
}

/** `ff02::1 ip6-allnodes`, `0.0.0.0 blocked.example` */
function isGroupOfHosts([address = '', ...names]: readonly string[]): boolean {
  if (names.length === 0) return false;
  if (names.some((name) => groupNames.has(name))) return true;
  const [problem] = parseTargets([address], anyInterface).problems;
  if (!problem?.reason.endsWith('cannot be scanned')) return false;
  return parseTargets(names, anyInterface).targets.every(({ kind }) => kind === 'hostname');
}

/** Ports of URLs that name none. */
const usualPorts: Readonly<Record<string, number>> = { ftp: 21, http: 80, https: 443, ssh: 22 };

/** Host and port of a URL or `host:port`; null for any other text, and where the host is none. */
function endpointOf(item: string): { host: string; port: number | null } | null {
  const start = item.indexOf('://');
  const scheme = start < 0 ? null : item.slice(0, start).toLowerCase();
  const rest = scheme === null ? item : item.slice(start + 3);
  const end = rest.search(/[/?#]|$/);
  const authority = rest.slice(rest.lastIndexOf('@', end) + 1, end);
  const colon = authority.lastIndexOf(':');
  const digits = authority.slice(colon + 1);
  const hasPort = colon > authority.lastIndexOf(']') && /^\d{1,5}$/.test(digits) && Number(digits) <= 65_535;
  // `10.0.0.1:80/24` is a mistake, and a text without scheme and port may be a CIDR block.
  if (scheme === null && (!hasPort || /^\/\d+$/.test(rest.slice(end)))) return null;
  const host = (hasPort ? authority.slice(0, colon) : authority).replace('%25', '%');
  const { targets, problems } = parseTargets([host], anyInterface);
  if (problems.length > 0 || !targets.every(({ kind }) => kind === 'ip' || kind === 'hostname')) return null;
  // Without brackets the last group of an IPv6 address reads as a port.
  if (host.includes(':') && !host.startsWith('[')) return null;
  return { host, port: hasPort ? Number(digits) : (usualPorts[scheme ?? ''] ?? null) };
}
