import { portText } from './result-rows.ts';

type Data = Record<string, unknown>;

/** Kind of an event or a record. The API calls a finding `vulnerability`. */
export function eventWord(type: string): string {
  return type === 'vulnerability' ? 'finding' : type;
}

const complianceWords: Record<string, string> = {
  pass: 'passed',
  fail: 'failed',
  not_assessed: 'not assessed',
};

/** An event or a record in one line: where, what, and its state. Its texts come from targets. */
export function eventText(data: Data): string {
  const { vulnerability, service, message, status, state, framework } = data;
  const isCompliance = typeof framework === 'string';
  const parts = [
    placeOf(data),
    isCompliance ? joined([framework, data['control'], data['title']]) : '',
    extraOf(data),
    nameIn(vulnerability),
    nameIn(service),
    message,
    isCompliance ? (complianceWords[String(status)] ?? status) : status,
    status === undefined && vulnerability === undefined ? state : undefined,
  ];
  return parts.filter((part) => typeof part === 'string' && part !== '').join(' · ');
}

function placeOf({ host, port, protocol }: Data): string {
  if (typeof host !== 'string') return '';
  if (typeof port !== 'number') return host;
  return `${host} ${portText({ port, protocol: typeof protocol === 'string' ? protocol : null })}`;
}

/** What a plugin recorded: its key and value. */
function extraOf({ key, value }: Data): string {
  if (typeof key !== 'string') return '';
  return value === undefined ? key : `${key}: ${typeof value === 'string' ? value : JSON.stringify(value)}`;
}

/** ID and title of a finding, product and version of a service. */
function nameIn(value: unknown): string {
  if (typeof value !== 'object' || value === null) return '';
  const { id, title, product, version, name } = value as Data;
  return joined(id === undefined ? [product ?? name, version] : [id, title]);
}

function joined(parts: readonly unknown[]): string {
  return parts.filter((part) => typeof part === 'string').join(' ');
}
