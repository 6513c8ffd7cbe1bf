import type { AuditRecord } from '../../workspace/audit/audit-reader.ts';
import { drawTable, type Narrowing, type TableColumn } from '../terminal/draw/columns.ts';
import type { TerminalStyle } from '../terminal/draw/style.ts';
import { whenText } from '../terminal/draw/times.ts';

const narrowing: Narrowing = [
  ['FROM', 0],
  ['REQUEST', 24],
  ['ACTOR', 12],
  ['REQUEST', 0],
  ['ABOUT', 16],
];

/** `audit list` on a terminal: one row per record; the whole of it is in the other formats. */
export function auditTable(records: readonly AuditRecord[], style: TerminalStyle, now: number): string {
  const hasTenants = records.some(({ tenant }) => tenant !== null);
  const columns: TableColumn<AuditRecord>[] = [
    { head: 'WHEN', cell: ({ timestamp }) => whenText(timestamp, now) },
    { head: 'EVENT', cell: ({ event }) => event },
    {
      head: 'OUTCOME',
      cell: ({ outcome }) => outcome,
      paint: ({ outcome }) => (outcome === 'allowed' ? null : 'yellow'),
    },
    { head: 'ACTOR', cell: actorText, over: 'end' },
    ...(hasTenants ? [{ head: 'TENANT', cell: ({ tenant }: AuditRecord) => tenant }] : []),
    { head: 'ABOUT', cell: aboutText, over: 'middle' },
    { head: 'REQUEST', cell: requestText, over: 'end' },
    { head: 'FROM', cell: ({ request }) => textOf(request?.ip) },
  ];
  return drawTable(columns, records, style, narrowing);
}

function actorText({ actor }: AuditRecord): string | null {
  return textOf(actor.name) ?? textOf(actor.id) ?? textOf(actor.type);
}

function aboutText({ resource, details }: AuditRecord): string | null {
  const parts = [resource?.type, resource?.id].map(textOf).filter((text) => text !== null);
  return parts.length > 0 ? parts.join(':') : textOf(details['operation']);
}

function requestText({ request }: AuditRecord): string | null {
  if (!request) return null;
  const parts = [request.method, request.path, request.status].map(textOf);
  return parts.filter((text) => text !== null).join(' ');
}

/** A log modified by others may contain any value. */
function textOf(value: unknown): string | null {
  if (value === null || value === undefined || value === '') return null;
  return typeof value === 'string' ? value : JSON.stringify(value);
}
