import { PortolanError } from '../../domain/errors.ts';
import { groupedNumber } from '../../domain/text/grouped-number.ts';
import { nearest } from '../../domain/text/nearest.ts';
import type { ScanFlags } from './submission.ts';

/** What advice about a rejected scan is made of. */
export interface AdviceSources {
  flags: ScanFlags;
  /** Names of the installed graphs, where the scan was to run. */
  graphs(): Promise<readonly string[]>;
  /** Where a configuration key was set, `file:line:column`, if it is known here. */
  origin(key: string): string | undefined;
}

interface Problem {
  field?: string;
  value?: string;
  reason?: string;
  hint?: string;
}

/** The error of a rejected scan with what to type instead; an error of another kind as it is. */
export async function withAdvice(error: unknown, sources: AdviceSources): Promise<unknown> {
  if (!(error instanceof PortolanError) || error.details['try'] !== undefined) return error;
  const fields = problemsOf(error.details['fields']);
  const [first, ...others] = fields;
  if (first === undefined || others.length > 0) return error;
  const advice = await adviceFor(first, problemsOf(error.details['targets']), sources);
  if (advice === null) return error;
  const [message, hint] = advice;
  return new PortolanError(
    error.code,
    message,
    { ...error.details, fields: [], targets: [], try: hint },
    error,
  );
}

type Advice = readonly [message: string, hint: string];

async function adviceFor(
  { field = '', reason = '' }: Problem,
  targets: readonly Problem[],
  sources: AdviceSources,
): Promise<Advice | null> {
  if (field === 'profile') return await ofProfile(reason, sources);
  if (field === 'dag') return await ofGraph(sources);
  if (field !== 'targets') return null;
  const tooMany = /^(\d+) addresses, the limit is (\d+)/.exec(reason);
  if (tooMany) return ofCount(BigInt(tooMany[1] ?? 0), Number(tooMany[2]));
  const [target] = targets;
  return targets.length === 1 && target ? ofTarget(target, sources) : null;
}

async function ofProfile(reason: string, { flags, graphs }: AdviceSources): Promise<Advice | null> {
  const { profile } = flags;
  const [, list] = reason.split('; valid names: ');
  if (profile === undefined || list === undefined) return null;
  const known = list.split(', ');
  const message = `no profile "${profile}"`;
  if ((await graphs()).includes(profile)) return [`${message}, it is a graph`, `--dag ${profile}`];
  if (/^\d[\d,-]*$/.test(profile)) return [message, `-p ${profile}`];
  if (/^\d/.test(profile)) return [`"${profile}" is no port list, and no profile`, '-p 22,80,8000-8100'];
  if (/^top/i.test(profile)) return [`"${profile}" is no port list, and no profile`, '-p top-100'];
  const { portCatalog } = await import('../../knowledge/ports.ts');
  const service =
    nearest(profile, known) === null ? nearest(profile, [...portCatalog.services.keys()]) : null;
  if (service !== null) return [`"${profile}" is no service, and no profile`, `-p ${service}`];
  const guess = nearest(profile, known) ?? known.find((name) => name === 'standard') ?? known[0] ?? '';
  const others = known.filter((name) => name !== guess).join(', ');
  return [message, `--profile ${guess}${others === '' ? '' : ` (also ${others})`}`];
}

async function ofGraph({ flags, graphs }: AdviceSources): Promise<Advice | null> {
  const { dag } = flags;
  const known = await graphs();
  const guess = dag === undefined ? null : nearest(dag, known);
  return guess === null ? null : [`no graph "${dag}"`, `--dag ${guess}`];
}

function ofCount(count: bigint, limit: number): Advice {
  return [
    `${count.toLocaleString('en-US')} addresses, the limit is ${groupedNumber(limit)}`,
    'SERVICE_SCANNER__MAX_ADDRESSES=0 (no limit)',
  ];
}

function ofTarget(
  { value = '', reason = '', hint = '' }: Problem,
  { flags, origin }: AdviceSources,
): Advice | null {
  // `-p 22 80`
  if (/^\d{1,5}$/.test(value))
    return [
      `target "${value}" is a number; ports are separated by commas`,
      `-p ${flags.ports === undefined ? '' : `${flags.ports},`}${value}`,
    ];
  if (reason.includes('a host with a port')) {
    const colon = value.lastIndexOf(':');
    const host = value.slice(0, colon).replace(/^\[|\]$/g, '');
    const port = value.slice(colon + 1);
    return [`target ${value} has a port`, `portolan scan ${host} -p ${port}`];
  }
  if (value.includes('://')) return ofUrl(value);
  const [what = '', instead] = reason.split('; write ');
  if (instead !== undefined && !instead.includes(' '))
    return [`target ${JSON.stringify(value)}: ${what}`, `portolan scan ${instead}`];
  if (reason !== 'out_of_scope') return null;
  return ofScope(value, hint, origin);
}

function ofUrl(value: string): Advice | null {
  const url = URL.parse(value);
  if (url === null || url.hostname === '') return null;
  const port = url.port || (url.protocol === 'http:' ? '80' : '443');
  return [`target ${value} is a URL`, `portolan scan ${url.hostname.replace(/^\[|\]$/g, '')} -p ${port}`];
}

function ofScope(value: string, hint: string, origin: AdviceSources['origin']): Advice | null {
  const key = ['allow', 'deny'].find((name) => hint.includes(`scanner.scope.${name}`));
  const where = origin(`scanner.scope.${key}`);
  if (key === undefined || where === undefined) return null;
  const place = where === 'default' ? '' : ` (${where.replace(/^.*\//, '').replace(/:\d+$/, '')})`;
  if (key === 'deny') return [`${value} is in scanner.scope.deny${place}`, `a list without it there`];
  const length = /[/*,-]/.test(value) ? '' : value.includes(':') ? '/128' : '/32';
  return [`${value} is not in scanner.scope.allow${place}`, `add ${value}${length} there`];
}

function problemsOf(list: unknown): Problem[] {
  return Array.isArray(list) ? (list as Problem[]) : [];
}
