import { useSyncExternalStore } from 'react';

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
  return [...new Set(text.split(/[\s,;]+/).filter((part) => part !== ''))];
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
  rate?: number;
  notifications?: string[];
  options?: Record<string, unknown>;
}

export function submissionOf(from: Draft): Submission {
  const exclude = targetsIn(from.exclude);
  const tags = targetsIn(from.tags);
  const notifications = targetsIn(from.notifications);
  const options = {
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
    ...(from.rate !== '' && { rate: Number(from.rate) }),
    ...(notifications.length > 0 && { notifications }),
    ...(Object.keys(options).length > 0 && { options }),
  };
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
  notifications,
  options = {},
}: Submission): string {
  const flag = (name: string, value: string | undefined) =>
    value === undefined ? [] : [`${name} ${quoted(value)}`];
  const parts = [
    'portolan scan',
    ...targets.map(quoted),
    ...flag('--exclude', exclude?.join(',')),
    ...flag('--profile', profile),
    ...(vuln ? ['--vuln'] : ['--no-vuln']),
    ...flag('--ports', ports),
    ...flag('--rate', rate === undefined ? undefined : String(rate)),
    ...flag('--scan-type', options['scan_type'] as string | undefined),
    ...(options['discover'] === false ? ['--no-discover'] : []),
    ...(options['intrusive'] === true ? ['--intrusive'] : []),
    ...flag('--max-duration', options['max_duration'] as string | undefined),
    ...flag('--min-severity', options['min_severity'] as string | undefined),
    ...flag('--scan-name', name),
    ...flag('--tags', tags?.join(',')),
    ...flag('--notify', notifications?.join(',')),
  ];
  return parts.join(' \\\n  ');
}

function quoted(text: string): string {
  return /^[\w./:,@%+=-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
