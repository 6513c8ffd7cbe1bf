import { open } from 'node:fs/promises';
import type { ReportWishes } from '../../actions/results/report-order.ts';
import { interfaceForm, interfacePattern } from '../../domain/interface-name.ts';
import type { PacketRate } from '../../domain/packet-rate.ts';
import { parseAddress } from '../../domain/targets/address.ts';
import { splitTargets } from '../../domain/targets/target.ts';
import type { Paper } from '../../report/report-facts.ts';
import { countText } from '../terminal/draw/amounts.ts';
import { printable } from '../terminal/draw/printable.ts';
import { usage } from '../terminal/failure.ts';
import type { GlobalFlags } from '../terminal/globals.ts';
import { type chooseOutput, note } from '../terminal/output.ts';
import type { NmapHabits } from './nmap/nmap-flags.ts';

/** Flags of `scan` as parsed by commander. */
export interface ScanFlags {
  targets?: string;
  targetFile?: string;
  exclude?: string;
  excludeFile?: string;
  ports?: string;
  topPorts?: number;
  profile?: string;
  dag?: string;
  rate?: PacketRate;
  timeout?: string;
  retries?: number;
  concurrency?: number;
  maxDuration?: string;
  scanType?: string;
  onlyDiscover?: boolean;
  /** False after --no-discover. */
  discover: boolean;
  vuln?: boolean;
  intrusive?: boolean;
  failFast?: boolean;
  format?: string;
  output?: string;
  outputFile?: string;
  scanName?: string;
  tags?: string;
  plugin?: string[];
  disablePlugin?: string;
  discoverProfile?: string;
  discoveryTimeout?: string;
  discoveryRetry?: number;
  excludePorts?: string;
  continueOnError?: boolean;
  /** False after --no-fingerprint. */
  fingerprint: boolean;
  fingerprintRules?: string;
  maxProtocols?: number;
  interface?: string;
  sourceIp?: string;
  sourcePort?: number;
  minSeverity?: string;
  compliance?: string;
  notify?: string;
  pool?: string;
  priority?: number;
  schedule?: string;
  compareWith?: string;
  failOnChange?: boolean;
  template?: string;
  paper?: Paper;
  server?: string;
  apiToken?: string;
  caFile?: string;
  /** False after --no-wait. */
  wait: boolean;
  progress?: boolean;
  open?: boolean;
  ipv6?: boolean;
  /** What flags of nmap ask for. */
  habits?: NmapHabits;
  dryRun?: boolean;
}

/** Body of a scan request (contract 2.5), only with what was specified; defaults apply where the scan runs. */
export type ScanSubmissionBody = Record<string, unknown> & { targets: string[] };

/** A command `scan`, wherever the scan runs. */
export interface ScanCommand {
  submission: Awaited<ReturnType<typeof submissionOf>>;
  /** File or name of a graph. */
  dag: string | undefined;
  output: ReturnType<typeof chooseOutput>;
  /** The same result in more files. */
  copies: readonly ReturnType<typeof chooseOutput>[];
  flags: GlobalFlags & ScanFlags;
}

/** What is wanted of the report that the scan writes; nothing if it writes another format. */
export async function reportWishes({
  output,
  flags,
}: Pick<ScanCommand, 'output' | 'flags'>): Promise<ReportWishes> {
  const { template, paper, compareWith } = flags;
  if ((template ?? paper ?? compareWith) === undefined) return {};
  const { isReportFormat } = await import('../../report/render-report.ts');
  return isReportFormat(output.format) ? { template, paper, against: compareWith } : {};
}

/** With the id of the scan that `--compare-with` means. */
export async function withBaseline(
  order: ScanCommand,
  choose: (text: string) => Promise<string>,
): Promise<ScanCommand> {
  const { compareWith } = order.flags;
  if (compareWith === undefined) return order;
  return { ...order, flags: { ...order.flags, compareWith: await choose(compareWith) } };
}

/** Maximum size of a target file, bytes. */
const maxListBytes = 8 * 1024 * 1024;

/** Converts the command line to a request body of the API. */
export async function submissionOf(positional: string[], flags: ScanFlags): Promise<ScanSubmissionBody> {
  const targets = await targetsOf(positional, flags);
  if (targets.length === 0)
    throw usage(
      `no targets${flags.targetFile === undefined ? '' : ` in ${flags.targetFile}`}`,
      'portolan scan 192.0.2.10, or -f FILE',
    );
  const exclude = await listsOf([flags.exclude], flags.excludeFile, 'all their ports are excluded');
  checkEgressFlags(flags);
  const options = dropUnset({
    scan_type: flags.scanType?.replace(/,udp$/, ''),
    discover: flags.discover ? undefined : false,
    concurrency: flags.concurrency,
    timeout: flags.timeout,
    retries: flags.retries,
    max_duration: flags.maxDuration,
    intrusive: flags.intrusive,
    fail_fast: flags.continueOnError ? false : flags.failFast,
    exclude_ports: flags.excludePorts,
    discover_profile: flags.discoverProfile,
    discovery_timeout: flags.discoveryTimeout,
    discovery_retries: flags.discoveryRetry,
    fingerprint: flags.fingerprint ? undefined : false,
    max_protocols: flags.maxProtocols,
    interface: flags.interface,
    source_ip: flags.sourceIp,
    source_port: flags.sourcePort,
    disable_plugins: flags.disablePlugin === undefined ? undefined : listOf(flags.disablePlugin),
    min_severity: flags.minSeverity,
    compliance: flags.compliance === undefined ? undefined : frameworksOf(flags.compliance),
  });
  const optional = dropUnset({
    exclude: exclude.length > 0 ? exclude : undefined,
    ports: await portsOf(flags),
    profile: flags.profile,
    rate: flags.rate,
    vuln: flags.vuln,
    name: flags.scanName,
    tags: flags.tags === undefined ? undefined : listOf(flags.tags),
    notifications: flags.notify === undefined ? undefined : listOf(flags.notify),
    pool: flags.pool,
    priority: flags.priority,
    dag: flags.onlyDiscover ? 'discovery-only' : undefined,
    options: Object.keys(options).length > 0 ? options : undefined,
  });
  return { targets, ...optional };
}

/** With UDP ports beside those of TCP where both are scanned. */
async function portsOf({ ports, topPorts, scanType, profile }: ScanFlags): Promise<string | undefined> {
  const list = ports ?? (topPorts === undefined ? undefined : `top-${topPorts}`);
  if (!scanType?.endsWith(',udp')) return list;
  const { withUdpPorts } = await import('./both-transports.ts');
  return await withUdpPorts(list, profile);
}

/** Before a server rejects them as what it does not have. @throws PortolanError `usage` */
function checkEgressFlags({ interface: link, sourceIp }: ScanFlags): void {
  if (link !== undefined && !interfacePattern.test(link))
    throw usage(`--interface: must be ${interfaceForm}`);
  if (sourceIp !== undefined && parseAddress(sourceIp) === null)
    throw usage('--source-ip: must be an IPv4 or IPv6 address');
}

const frameworks = ['cis', 'pci', 'nist'];

function frameworksOf(list: string): string[] {
  const named = listOf(list.toLowerCase());
  const unknown = named.find((name) => !frameworks.includes(name));
  if (unknown === undefined) return [...new Set(named)];
  throw usage(`--compliance: unknown framework "${unknown}" (${frameworks.join(', ')})`);
}

async function targetsOf(positional: string[], flags: ScanFlags): Promise<string[]> {
  return listsOf([...positional, flags.targets], flags.targetFile);
}

/**
 * The targets of words and of a file, with `@file` replaced by the list in that file, and `-` by that of stdin.
 * @param ports what to say of ports in lists
 */
async function listsOf(
  words: readonly (string | undefined)[],
  file: string | undefined,
  ports?: string,
): Promise<string[]> {
  const fileOf = (name: string) => readList(name, ports);
  const expand = (word = '') => {
    // `10.0.0.1 - 10.0.0.9` does not mean stdin.
    const isRange = /\s-\s/.test(word);
    return splitTargets(word).map((item) => {
      if (item === '-' && !isRange) return fileOf(item);
      return item.startsWith('@') ? fileOf(item.slice(1)) : [item];
    });
  };
  const given = words.filter((word) => word !== undefined).flatMap(expand);
  return (await Promise.all([...given, file === undefined ? [] : fileOf(file)])).flat();
}

/** Trimmed items of a comma-separated list. Empty items are retained: they are mistakes to report. */
function listOf(text: string | undefined): string[] {
  return text === undefined ? [] : text.split(',').map((item) => item.trim());
}

/** The text of a file, or of stdin for `-`. @throws PortolanError `usage` */
export async function readListFile(file: string): Promise<string> {
  return file === '-' ? await readStdin() : await readText(file);
}

async function readList(file: string, ofPorts?: string): Promise<string[]> {
  if (file === '') throw usage('@ must be followed by a file name');
  const { readTargetList } = await import('../../domain/targets/target-list.ts');
  const { targets, reduced, ports, left } = readTargetList(await readListFile(file));
  const name = file === '-' ? 'stdin' : file;
  if (reduced.length > 0) {
    const [first = ''] = reduced;
    const more = reduced.length === 1 ? first : `${first} and ${reduced.length - 1} more`;
    const named = ports.length > 0 && ports.length <= maxNamedPorts;
    const hint = ofPorts ?? (named ? `for their ports: -p ${ports.join(',')}` : 'ports come from -p');
    note(`warning: ${printable(`${name}: hosts taken from URLs and host:port (${more}); ${hint}`)}`);
  }
  if (left.length > 0)
    note(
      `warning: ${printable(`${name}: ${countText(left.length, 'line')} left out, no address of a single host: ${left[0]}`)}`,
    );
  return targets;
}

/** Maximum number of ports in a warning. */
const maxNamedPorts = 20;

async function readText(file: string): Promise<string> {
  let handle: Awaited<ReturnType<typeof open>> | undefined;
  try {
    handle = await open(file, 'r');
    return await collect(handle.createReadStream({ autoClose: false }), file);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === undefined || code === 'usage') throw error;
    const reasons: Record<string, string> = {
      ENOENT: 'no such file',
      EISDIR: 'is a directory',
      EACCES: 'permission denied',
    };
    throw usage(`cannot read the list ${file}: ${reasons[code] ?? code}`);
  } finally {
    await handle?.close();
  }
}

async function readStdin(): Promise<string> {
  return collect(process.stdin, 'stdin');
}

async function collect(stream: AsyncIterable<Buffer | string>, name: string): Promise<string> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of stream) {
    parts.push(Buffer.from(part));
    size += part.length;
    if (size > maxListBytes) throw usage(`the list ${name} is larger than 8 MiB`);
  }
  return textOf(Buffer.concat(parts), name);
}

/**
 * UTF-8, or UTF-16 with a byte order mark, as Windows writes lists.
 * @throws PortolanError `usage` for bytes that are no text
 */
function textOf(bytes: Buffer, name: string): string {
  const mark = bytes.subarray(0, 2).toString('latin1');
  const encoding = mark === '\xff\xfe' ? 'utf-16le' : mark === '\xfe\xff' ? 'utf-16be' : 'utf-8';
  const text = new TextDecoder(encoding).decode(bytes);
  if (text.includes('\0'))
    throw usage(`the list ${name} is no text`, 'a file in UTF-8, or UTF-16 with a byte order mark');
  return text;
}

function dropUnset(values: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
}
