import type { AuditRecord } from '../../workspace/audit/audit-reader.ts';
import { renderRows } from '../terminal/draw/columns.ts';
import { jsonSafe, printable } from '../terminal/draw/printable.ts';

type Records = AsyncIterable<AuditRecord>;
type Pieces = AsyncGenerator<string>;

const columns = [
  'timestamp',
  'event',
  'outcome',
  'actor_type',
  'actor_id',
  'actor_name',
  'tenant',
  'request_id',
  'method',
  'path',
  'status',
  'ip',
  'user_agent',
  'duration_ms',
  'resource_type',
  'resource_id',
  'details',
];

/** Records of an audit log as text, in order. Some text comes from requests: control characters are escaped. */
export const auditFormats = {
  async *text(records: Records): Pieces {
    for await (const record of records) yield `${lineOf(record)}\n`;
  },
  async *json(records: Records): Pieces {
    let before = '[';
    for await (const record of records) {
      yield `${before}\n${jsonSafe(JSON.stringify(record))}`;
      before = ',';
    }
    yield before === '[' ? '[]\n' : '\n]\n';
  },
  async *jsonl(records: Records): Pieces {
    for await (const record of records) yield `${jsonSafe(JSON.stringify(record))}\n`;
  },
  async *csv(records: Records): Pieces {
    yield renderRows(columns, []);
    for await (const record of records) yield renderRows(cellsOf(record), []);
  },
};

function cellsOf({ request, resource, actor, ...record }: AuditRecord): string[] {
  const { timestamp, event, outcome, tenant, details } = record;
  const { type: actorType, id: actorId, name } = actor;
  const { id, method, path, status, ip, user_agent: agent, duration_ms: ms } = request ?? {};
  const facts = [timestamp, event, outcome, actorType, actorId, name, tenant];
  const call = [id, method, path, status, ip, agent, ms];
  return [...facts, ...call, resource?.type, resource?.id, details].map(cellOf);
}

/** A log modified by others may contain any value. */
function cellOf(value: unknown): string {
  if (value === null || value === undefined) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function lineOf({
  timestamp,
  event,
  outcome,
  actor,
  tenant,
  request,
  resource,
  details,
}: AuditRecord): string {
  const who = [actor.type, actor.name ?? actor.id].map(cellOf).filter((text) => text !== '');
  const what = [resource?.type, resource?.id].map(cellOf).filter((text) => text !== '');
  const call = request ? [request.method, request.path, request.status, 'from', request.ip] : [];
  const facts = Object.keys(details).length > 0 ? [JSON.stringify(details)] : [];
  const parts = [
    timestamp,
    event.padEnd(13),
    outcome.padEnd(7),
    who.join(':'),
    ...(tenant === null ? [] : [`tenant:${tenant}`]),
    what.join(':') || '-',
    ...call.map(cellOf),
    ...facts,
  ];
  return printable(parts.join(' '));
}
