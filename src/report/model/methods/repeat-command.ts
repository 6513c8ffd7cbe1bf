import type { ScanOptions, ScanRequest } from '../../../domain/scan.ts';

/** Longest command of a report, characters; of a longer one the targets stand in a file. */
const maxCommandLength = 1500;

/** The command that repeats a scan, quoted for a shell. Settings of the server and installed plugins are not part of it. */
export function repeatCommand(request: ScanRequest): string {
  const rest = optionsOf(request).map(shellQuoted);
  const whole = ['portolan', 'scan', ...request.targets.map(shellQuoted), ...rest].join(' ');
  if (whole.length <= maxCommandLength) return whole;
  const excluded = request.exclude.length === 0 ? [] : ['--exclude-file', 'excluded.txt'];
  const short = optionsOf({ ...request, exclude: [] }).map(shellQuoted);
  return ['portolan', 'scan', '--target-file', 'targets.txt', ...excluded, ...short].join(' ');
}

function optionsOf(request: ScanRequest): string[] {
  const { exclude, profile, dag, ports, rate, vuln, pool, options } = request;
  return [
    // A comma may stand in an octet.
    ...(exclude.length > 0
      ? ['--exclude', exclude.join(exclude.some((target) => target.includes(',')) ? ' ' : ',')]
      : []),
    ...(dag === null ? ['--profile', profile] : ['--dag', dag]),
    ...(ports === null ? [] : ['--ports', ports]),
    '--rate',
    String(rate),
    vuln ? '--vuln' : '--no-vuln',
    ...(pool && pool !== 'default' ? ['--pool', pool] : []),
    ...furtherOptions(options ?? {}),
  ];
}

/** Options with a value, by their name on the command line. */
const valueOptions = {
  exclude_ports: '--exclude-ports',
  scan_type: '--scan-type',
  discover_profile: '--discover-profile',
  discovery_timeout: '--discovery-timeout',
  discovery_retries: '--discovery-retry',
  timeout: '--timeout',
  retries: '--retries',
  concurrency: '--concurrency',
  max_duration: '--max-duration',
  max_protocols: '--max-protocols',
  interface: '--interface',
  source_ip: '--source-ip',
  source_port: '--source-port',
  disable_plugins: '--disable-plugin',
  fingerprint_rules: '--fingerprint-rules',
  min_severity: '--min-severity',
} as const satisfies Partial<Record<keyof ScanOptions, string>>;

function furtherOptions(options: ScanOptions): string[] {
  const { discover, fingerprint, compliance, intrusive, fail_fast } = options;
  const values = Object.entries(valueOptions).flatMap(([name, flag]) => {
    const value = options[name as keyof typeof valueOptions];
    return value === undefined || value === null ? [] : [flag, String(value)];
  });
  return [
    ...(discover === false ? ['--no-discover'] : []),
    ...values,
    ...(fingerprint === false ? ['--no-fingerprint'] : []),
    ...(compliance && compliance.length > 0 ? ['--compliance', compliance.join(',')] : []),
    ...(intrusive ? ['--intrusive'] : []),
    ...(fail_fast === undefined ? [] : [fail_fast ? '--fail-fast' : '--continue-on-error']),
  ];
}

/** A word as a POSIX shell reads it back. */
export function shellQuoted(word: string): string {
  if (/^[\w@%+=:,./-]+$/.test(word)) return word;
  return `'${word.replaceAll("'", "'\\''")}'`;
}
