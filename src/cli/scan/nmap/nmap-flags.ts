import type { OutputFormat } from '../../terminal/output.ts';

/** What the flags of nmap on a command line ask for beyond flags of `scan`. */
export interface NmapHabits {
  /** Files of results, in this order, beside that of `--output`. */
  outputs: readonly { file: string; format: OutputFormat }[];
  /** What a flag does otherwise than in nmap. */
  notes: readonly string[];
  /** Flags without effect, because it is always so. */
  always: readonly string[];
}

/**
 * The flags of nmap: what each does here. The help `portolan help nmap`, docs/coming-from-nmap.md and the reading of the
 * command line come from this one table.
 */
export interface NmapFlag {
  /** Spellings, the usual one first. */
  flags: readonly string[];
  /** What follows, e.g. `FILE`; absent = nothing. */
  value?: string;
  /** What to type here, as the table shows it. */
  here: string;
  /** Words of `portolan scan` with the same effect. */
  words?: (value: string) => readonly string[];
  /** A result file of this format; several are all written. */
  output?: 'text' | 'nmap' | 'json' | 'grepable' | 'list' | 'all';
  /** A transport of the port scan; several are combined. */
  transport?: 'syn' | 'connect' | 'udp';
  /** Nothing to do, because it is always so. */
  always?: string;
  /** A line for stderr. */
  note?: string;
  /** Exit code 2: what to type instead; null = there is nothing of the kind. */
  rejected?: string | null;
  /** `portolan scan` has a flag of this name. */
  own?: true;
}

export interface NmapGroup {
  title: string;
  rows: readonly NmapFlag[];
}

const speed = (timeout: string, retries: number) => ['--timeout', timeout, '--retries', String(retries)];
/** As fast as responses come. */
const swift: readonly string[] = ['--rate', 'auto'];
const careful = (rate: number, timeout: string) => () => [
  '--rate',
  String(rate),
  '--concurrency',
  '1',
  ...speed(timeout, 1),
];

export const nmapGroups: readonly NmapGroup[] = [
  {
    title: 'Targets',
    rows: [
      {
        flags: ['-iL'],
        value: 'FILE',
        here: '-f FILE, - is stdin',
        words: (file) => ['--target-file', file],
      },
      { flags: ['--exclude'], value: 'LIST', here: 'the same', own: true },
      { flags: ['--exclude-file'], value: 'FILE', here: 'the same', own: true },
      {
        flags: ['--excludefile'],
        value: 'FILE',
        here: '--exclude-file FILE',
        words: (file) => ['--exclude-file', file],
      },
      { flags: ['-n'], here: 'always on', always: 'no reverse look-ups of names' },
      { flags: ['-6'], here: '--ipv6: names resolve to IPv6 only', words: () => ['--ipv6'] },
      { flags: ['-iR'], value: 'N', here: 'not offered: no random targets', rejected: null },
      { flags: ['-R'], here: 'not offered: no reverse look-ups', rejected: null },
      { flags: ['-sL'], here: '--dry-run', rejected: '--dry-run' },
    ],
  },
  {
    title: 'Ports',
    rows: [
      { flags: ['-p'], value: 'LIST', here: 'the same: 22,80 -100 [1-99] U:53 ssh http*', own: true },
      { flags: ['-F'], here: '--ports top-100', words: () => ['--ports', 'top-100'] },
      { flags: ['--top-ports'], value: 'N', here: 'the same', own: true },
      { flags: ['--port-ratio'], value: 'X', here: '--top-ports N', rejected: '--top-ports N' },
      { flags: ['--exclude-ports'], value: 'LIST', here: 'the same', own: true },
      { flags: ['-sS'], here: '--scan-type syn', transport: 'syn' },
      { flags: ['-sT'], here: '--scan-type connect', transport: 'connect' },
      { flags: ['-sU'], here: '--scan-type udp; -sSU is syn,udp', transport: 'udp' },
      {
        flags: ['-sA', '-sF', '-sN', '-sX', '-sI', '-sM', '-sO', '-sW', '-sY', '-sZ', '-b'],
        here: 'not offered: -sS, -sT or -sU',
        rejected: '-sS, -sT or -sU',
      },
    ],
  },
  {
    title: 'Hosts',
    rows: [
      { flags: ['-sn', '-sP'], here: '--only-discover', words: () => ['--only-discover'] },
      { flags: ['-Pn', '-P0', '-PN'], here: '--no-discover', words: () => ['--no-discover'] },
      {
        flags: ['-PS', '-PA', '-PU', '-PY', '-PE', '-PP', '-PM', '-PR', '-PO'],
        here: '--discover-profile fast, standard, deep, tcp',
        rejected: '--discover-profile fast, standard, deep or tcp',
      },
      { flags: ['--traceroute'], here: 'not offered', rejected: null },
    ],
  },
  {
    title: 'Services, systems, scripts',
    rows: [
      { flags: ['-sV'], here: 'always on', always: 'services are identified (off: --no-fingerprint)' },
      { flags: ['-O'], here: 'always on', always: 'systems are identified from what services say' },
      {
        flags: ['-A'],
        here: '--profile deep',
        words: () => ['--profile', 'deep'],
        note: '-A is --profile deep here: all ports, services, findings; no traceroute',
      },
      {
        flags: ['-sC'],
        here: '--vuln, rules, templates',
        rejected: '--vuln for findings, --plugin FILE for rules',
      },
      {
        flags: ['--script'],
        value: 'X',
        here: '--vuln, rules, templates',
        rejected: '--vuln for findings, --plugin FILE for rules',
      },
      { flags: ['--script-args'], value: 'X', here: 'not offered', rejected: '--plugin FILE for rules' },
      {
        flags: ['--version-intensity'],
        value: 'N',
        here: '--profile deep, --no-fingerprint',
        rejected: '--profile deep, or --no-fingerprint',
      },
      {
        flags: ['--version-all', '--version-light'],
        here: '--profile deep, quick',
        rejected: '--profile deep or quick',
      },
      {
        flags: ['--osscan-limit', '--osscan-guess'],
        here: 'always on',
        always: 'systems are identified from what services say',
      },
    ],
  },
  {
    title: 'Speed',
    rows: [
      {
        flags: ['-T0'],
        here: '1 packet/s, 1 connection, 15 s',
        words: careful(1, '15s'),
        note: '-T0 sends 1 packet/s here; nmap sends 1 in 5 min',
      },
      {
        flags: ['-T1'],
        here: '1 packet/s, 1 connection, 15 s',
        words: careful(1, '15s'),
        note: '-T1 sends 1 packet/s here; nmap sends 1 in 15 s',
      },
      { flags: ['-T2'], here: '2 packets/s, 1 connection, 10 s', words: careful(2, '10s') },
      { flags: ['-T3'], here: 'the usual rate, 3 s', words: () => speed('3s', 1) },
      {
        flags: ['-T4'],
        here: '--rate auto --timeout 1250ms',
        words: () => [...swift, ...speed('1250ms', 1)],
      },
      { flags: ['-T5'], here: '--rate auto --timeout 300ms', words: () => [...swift, ...speed('300ms', 1)] },
      { flags: ['--max-rate'], value: 'N', here: '--rate N', words: (n) => ['--rate', n] },
      { flags: ['--min-rate'], value: 'N', here: '--rate auto', rejected: '--rate auto' },
      { flags: ['--max-retries'], value: 'N', here: '--retries N', words: (n) => ['--retries', n] },
      {
        flags: ['--host-timeout'],
        value: 'T',
        here: '--max-duration T is for the scan',
        rejected: '--max-duration TIME, for the whole scan',
      },
      {
        flags: ['--max-rtt-timeout', '--initial-rtt-timeout'],
        value: 'T',
        here: '--timeout T',
        words: (time) => ['--timeout', time],
      },
      { flags: ['--scan-delay'], value: 'T', here: '--rate N', rejected: '--rate N, packets per second' },
      {
        flags: ['--max-parallelism'],
        value: 'N',
        here: '--concurrency N',
        words: (n) => ['--concurrency', n],
      },
    ],
  },
  {
    title: 'The way out',
    rows: [
      { flags: ['-e'], value: 'IF', here: '--interface IF', words: (name) => ['--interface', name] },
      {
        flags: ['-g', '--source-port'],
        value: 'PORT',
        here: '--source-port PORT',
        words: (port) => ['--source-port', port],
      },
      {
        flags: ['-S'],
        value: 'ADDRESS',
        here: 'not offered; --source-ip: an own address',
        rejected: '--source-ip ADDRESS, one of this machine',
      },
      { flags: ['-D', '--decoy'], value: 'LIST', here: 'not offered', rejected: null },
      {
        flags: ['-ff', '--mtu', '--data-length', '--ttl', '--badsum', '--spoof-mac'],
        here: 'not offered (-f is --target-file)',
        rejected: null,
      },
      { flags: ['--proxies'], value: 'LIST', here: 'not offered', rejected: null },
    ],
  },
  {
    title: 'Results',
    rows: [
      { flags: ['-oN'], value: 'FILE', here: '--format text -o FILE', output: 'text' },
      { flags: ['-oX'], value: 'FILE', here: '--format nmap -o FILE, - is stdout', output: 'nmap' },
      { flags: ['-oJ'], value: 'FILE', here: '--format json -o FILE', output: 'json' },
      { flags: ['-oG'], value: 'FILE', here: '--format grepable -o FILE', output: 'grepable' },
      { flags: ['-oL'], value: 'FILE', here: '--format list -o FILE, as masscan', output: 'list' },
      { flags: ['-oA'], value: 'BASE', here: 'BASE.nmap, BASE.xml and BASE.gnmap', output: 'all' },
      { flags: ['-oS'], value: 'FILE', here: '--format text -o FILE', rejected: '-oN FILE' },
      { flags: ['--open'], here: 'the same: only hosts and ports that are open', own: true },
      {
        flags: ['--reason'],
        here: 'on in -v and JSON, ICMP errors everywhere',
        always: 'reasons stand in -v and in JSON',
      },
      { flags: ['-v'], here: 'the same; -vv, -vvv say more', own: true },
      { flags: ['-d', '-dd'], here: '-vvv', words: () => ['--verbosity', '3'] },
      { flags: ['--packet-trace'], here: '-vvv', words: () => ['--verbosity', '3'] },
      {
        flags: ['--resume'],
        value: 'FILE',
        here: 'portolan scan resume ID',
        rejected: 'portolan scan resume ID (latest is the newest)',
      },
      {
        flags: ['--append-output'],
        here: 'not offered: results are kept by scan',
        rejected: 'portolan workspace list',
      },
    ],
  },
];
