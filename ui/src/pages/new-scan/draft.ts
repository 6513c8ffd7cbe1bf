import { useSyncExternalStore } from 'react';
import type { Data } from '../../api/api-types.ts';

/** A scan that is being described; nothing of it is sent before the last button. */
export interface Draft {
  /** As typed: separated by commas, blanks or lines. */
  targets: string;
  exclude: string;
  name: string;
  tags: string;
  profile: string;
  vuln: boolean;
  /** Empty = those of the profile. */
  ports: string;
  rate: string;
  scanType: 'auto' | 'syn' | 'connect' | 'udp';
  discover: boolean;
  intrusive: boolean;
  maxDuration: string;
  minSeverity: '' | 'critical' | 'high' | 'medium' | 'low' | 'info';
  notifications: string;
  /** Graph instead of the profile's; only of a scan that is repeated, as the two below. */
  dag: string;
  pool: string;
  /** Options that no step edits, as the API takes them. */
  further: Readonly<Record<string, unknown>>;
}

const emptyDraft: Draft = {
  targets: '',
  exclude: '',
  name: '',
  tags: '',
  profile: '',
  vuln: true,
  ports: '',
  rate: '',
  scanType: 'auto',
  discover: true,
  intrusive: false,
  maxDuration: '',
  minSeverity: '',
  notifications: '',
  dag: '',
  pool: '',
  further: {},
};

const key = 'portolan.new-scan';
const listeners = new Set<() => void>();
let draft: Draft = stored();

function stored(): Draft {
  if (typeof sessionStorage === 'undefined') return emptyDraft;
  try {
    return { ...emptyDraft, ...(JSON.parse(sessionStorage.getItem(key) ?? '{}') as Partial<Draft>) };
  } catch {
    return emptyDraft;
  }
}

/** The draft of this tab: it survives a reload and the way back. */
export function useDraft(): [Draft, (changes: Partial<Draft>) => void] {
  return [useSyncExternalStore(subscribe, () => draft), changeDraft];
}

export function changeDraft(changes: Partial<Draft>): void {
  draft = { ...draft, ...changes };
  sessionStorage.setItem(key, JSON.stringify(draft));
  for (const listener of listeners) listener();
}

export function clearDraft(): void {
  changeDraft(emptyDraft);
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Targets of a text: separated by commas, blanks or lines. */
export function targetsIn(text: string): string[] {
  const parts = text.split(/[\s;]+/).map((part) => (part.endsWith(',') ? part.slice(0, -1) : part));
  const words = parts.flatMap((part) => (isOctetList(part) ? part : part.split(',')));
  return [...new Set(words.filter((word) => word !== ''))];
}

/** `10.0.0-3.1,7`: one target, whose octets are lists. */
function isOctetList(word: string): boolean {
  return /^\d[\d.*,-]*$/.test(word) && word.split('.').length === 4;
}

/** The body of the request. */
export interface Submission {
  targets: string[];
  exclude?: string[];
  name?: string;
  tags?: string[];
  profile?: string;
  vuln?: boolean;
  ports?: string;
  rate?: number | 'auto';
  dag?: string;
  pool?: string;
  notifications?: string[];
  options?: Record<string, unknown>;
}

export function submissionOf(from: Draft): Submission {
  const exclude = targetsIn(from.exclude);
  const tags = targetsIn(from.tags);
  const notifications = targetsIn(from.notifications);
  const options = {
    ...from.further,
    ...(from.scanType !== 'auto' && { scan_type: from.scanType }),
    ...(!from.discover && { discover: false }),
    ...(from.intrusive && { intrusive: true }),
    ...(from.maxDuration !== '' && { max_duration: from.maxDuration }),
    ...(from.minSeverity !== '' && { min_severity: from.minSeverity }),
  };
  return {
    targets: targetsIn(from.targets),
    vuln: from.vuln,
    ...(exclude.length > 0 && { exclude }),
    ...(from.name !== '' && { name: from.name }),
    ...(tags.length > 0 && { tags }),
    ...(from.profile !== '' && { profile: from.profile }),
    ...(from.ports !== '' && { ports: from.ports }),
    ...(from.rate !== '' && { rate: rateOf(from.rate) }),
    ...(from.dag !== '' && { dag: from.dag }),
    ...(from.pool !== '' && { pool: from.pool }),
    ...(notifications.length > 0 && { notifications }),
    ...(Object.keys(options).length > 0 && { options }),
  };
}

/** While `auto` is being typed, it is meant. */
function rateOf(text: string): number | 'auto' {
  return text.startsWith('a') ? 'auto' : Number(text);
}

type ScanSubmission = Data<'/api/v1/scans/{scan_id}/request'>;

/** The draft that `submissionOf` turns into this request. */
export function draftOf({ options = {}, ...request }: ScanSubmission): Draft {
  const { scan_type, discover, intrusive, max_duration, min_severity, ...further } = options;
  const { ports } = request;
  return {
    targets: request.targets.join('\n'),
    exclude: (request.exclude ?? []).join('\n'),
    name: request.name ?? '',
    tags: (request.tags ?? []).join(' '),
    profile: request.profile ?? '',
    vuln: request.vuln ?? false,
    ports: Array.isArray(ports) ? ports.join() : (ports ?? ''),
    rate: request.rate === undefined ? '' : String(request.rate),
    scanType: scan_type ?? 'auto',
    discover: discover !== false,
    intrusive: intrusive === true,
    maxDuration: max_duration ?? '',
    minSeverity: min_severity ?? '',
    notifications: (request.notifications ?? []).join('\n'),
    dag: request.dag ?? '',
    pool: request.pool ?? '',
    further,
  };
}

/** What a repeated scan has beside the steps, in words. */
export function furtherText({ dag, pool, further }: Draft): string[] {
  return [
    ...(dag === '' ? [] : [`graph ${dag}`]),
    ...(pool === '' ? [] : [`pool ${pool}`]),
    ...Object.entries(further).map(([name, value]) => `${name.replaceAll('_', ' ')} ${String(value)}`),
  ];
}

/** The same scan as a command, one part per line. */
export function commandOf({
  targets,
  exclude,
  name,
  tags,
  profile,
  vuln,
  ports,
  rate,
  dag,
  notifications,
  options = {},
}: Submission): string {
  const flag = (name: string, value: string | undefined) =>
    value === undefined ? [] : [`${name} ${quoted(value)}`];
  const parts = [
    'portolan scan',
    ...targets.map(quoted),
    ...flag('--exclude', exclude?.join(exclude.some((target) => target.includes(',')) ? ' ' : ',')),
    ...flag('--profile', profile),
    ...flag('--dag', dag),
    ...(vuln ? ['--vuln'] : ['--no-vuln']),
    ...flag('--ports', ports),
    ...flag('--rate', rate === undefined ? undefined : String(rate)),
    ...flag('--scan-type', options['scan_type'] as string | undefined),
    ...(options['discover'] === false ? ['--no-discover'] : []),
    ...(options['intrusive'] === true ? ['--intrusive'] : []),
    ...flag('--max-duration', options['max_duration'] as string | undefined),
    ...flag('--min-severity', options['min_severity'] as string | undefined),
    ...furtherFlags.flatMap(([option, name]) =>
      flag(name, options[option] === undefined ? undefined : String(options[option])),
    ),
    ...(options['fingerprint'] === false ? ['--no-fingerprint'] : []),
    ...(options['fail_fast'] === true ? ['--fail-fast'] : []),
    ...flag('--scan-name', name),
    ...flag('--tags', tags?.join(',')),
    ...flag('--notify', notifications?.join(',')),
  ];
  return parts.join(' \\\n  ');
}

/** Options with a value, and their flags. */
const furtherFlags = [
  ['timeout', '--timeout'],
  ['retries', '--retries'],
  ['concurrency', '--concurrency'],
  ['exclude_ports', '--exclude-ports'],
  ['compliance', '--compliance'],
  ['discover_profile', '--discover-profile'],
  ['discovery_timeout', '--discovery-timeout'],
  ['discovery_retries', '--discovery-retry'],
  ['max_protocols', '--max-protocols'],
  ['interface', '--interface'],
  ['source_ip', '--source-ip'],
  ['source_port', '--source-port'],
  ['disable_plugins', '--disable-plugin'],
] as const;

function quoted(text: string): string {
  return /^[\w./:,@%+=-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
