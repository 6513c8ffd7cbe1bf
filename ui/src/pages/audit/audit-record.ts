/** A record of the audit log. Its texts come from clients. */
export interface AuditRecord {
  timestamp: string;
  event: string;
  outcome: string;
  actor: { type: string; id: string | null; name: string | null };
  tenant: string | null;
  request: {
    id: string;
    method: string;
    path: string;
    status: number;
    ip: string;
    user_agent: string | null;
    duration_ms: number;
  } | null;
  resource: { type: string; id: string | null } | null;
  details: Record<string, unknown>;
  hash: string;
  prev_hash: string;
}

/** A record as the log has it; members that are absent or of another type become empty ones. */
export function readRecord(raw: Record<string, unknown>): AuditRecord {
  const actor = objectOf(raw['actor']);
  const request = objectOf(raw['request']);
  const resource = objectOf(raw['resource']);
  return {
    timestamp: textOf(raw['timestamp']) ?? '',
    event: textOf(raw['event']) ?? '',
    outcome: textOf(raw['outcome']) ?? '',
    actor: {
      type: textOf(actor?.['type']) ?? 'unknown',
      id: textOf(actor?.['id']),
      name: textOf(actor?.['name']),
    },
    tenant: textOf(raw['tenant']),
    request:
      request === null
        ? null
        : {
            id: textOf(request['id']) ?? '',
            method: textOf(request['method']) ?? '',
            path: textOf(request['path']) ?? '',
            status: Number(request['status']) || 0,
            ip: textOf(request['ip']) ?? '',
            user_agent: textOf(request['user_agent']),
            duration_ms: Number(request['duration_ms']) || 0,
          },
    resource: resource === null ? null : { type: textOf(resource['type']) ?? '', id: textOf(resource['id']) },
    details: objectOf(raw['details']) ?? {},
    hash: textOf(raw['hash']) ?? '',
    prev_hash: textOf(raw['prev_hash']) ?? '',
  };
}

/** Who, in one text: `ci`, `anonymous`, `system`. */
export function actorText({ actor: { name, id, type } }: AuditRecord): string {
  return name ?? id ?? type;
}

/** What it did: the operation, else the request, else the event. */
export function actionText({ details, request, event }: AuditRecord): string {
  const operation = textOf(details['operation']);
  if (operation !== null) return operation;
  return request === null ? event : `${request.method} ${request.path}`;
}

/** About what: `scan:20261006-143022-a1b2c3`. */
export function resourceText({ resource }: AuditRecord): string {
  if (resource === null) return '';
  return resource.id === null ? resource.type : `${resource.type}:${resource.id}`;
}

/** A detail as text: lists with commas, objects as JSON. */
export function detailText(value: unknown): string {
  if (Array.isArray(value)) return value.map(detailText).join(', ');
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value);
}

function objectOf(value: unknown): Record<string, unknown> | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : null;
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}
