import { auditEvents } from '../../config/schema.ts';
import type { FieldProblem } from '../../domain/errors.ts';
import type { AuditRecord } from '../../workspace/audit/audit-reader.ts';
import { readSince } from '../paging/list-page.ts';

/** Filters as clients write them; a record must pass all of them. */
export interface AuditQuery {
  /** RFC 3339 time or date: records since then. */
  since?: string | undefined;
  /** The same: records before then. */
  until?: string | undefined;
  /** Names of events, comma-separated; `changes`: whatever changed something. */
  event?: string | undefined;
  /** Id, name or type of the actor. */
  actor?: string | undefined;
  outcome?: string | undefined;
  /** `type`, `type:id` or id. */
  resource?: string | undefined;
}

export interface AuditFilter {
  /** ISO 8601 UTC, null = no limit. */
  since: string | null;
  takes(record: AuditRecord): boolean;
}

/** Stands for all events that say what changed. */
const changes = 'changes';
/** Requests with a body that change nothing, and those that an event `config_change` tells in better words. */
const toldOtherwise =
  /\/(?:validate|preview|plan|session)$|^\/api\/v1\/(?:tokens|dags|profiles|plugins)(?:\/|$)/;

function isChange({ event, request, details }: AuditRecord): boolean {
  if (event === 'config_change') return details['operation'] !== 'audit.read';
  if (event !== 'api_access' || request === null) return false;
  const { method, path } = request;
  return method !== 'GET' && method !== 'HEAD' && !toldOtherwise.test(path);
}

const outcomes = ['allowed', 'denied', 'error'];

/** @param problems collects what is wrong with it */
export function readFilter(query: AuditQuery, problems: FieldProblem[]): AuditFilter {
  const since = readSince(query.since, problems);
  const until = readSince(query.until, problems, 'until');
  const events = query.event?.split(',').map((name) => name.trim());
  const known: readonly string[] = [...auditEvents, changes];
  if (events?.some((name) => !known.includes(name)))
    problems.push({ field: 'event', reason: `must be one of ${known.join(', ')}` });
  const { actor, outcome, resource } = query;
  if (outcome !== undefined && !outcomes.includes(outcome))
    problems.push({ field: 'outcome', reason: `must be one of ${outcomes.join(', ')}` });
  return {
    since,
    takes: (record) =>
      (since === null || record.timestamp >= since) &&
      (until === null || record.timestamp < until) &&
      (events === undefined ||
        events.includes(record.event) ||
        (events.includes(changes) && isChange(record))) &&
      (outcome === undefined || record.outcome === outcome) &&
      (actor === undefined || isActor(record, actor)) &&
      (resource === undefined || isAbout(record, resource)),
  };
}

function isActor({ actor: { type, id, name } }: AuditRecord, wanted: string): boolean {
  return id === wanted || name === wanted || type === wanted;
}

function isAbout({ resource }: AuditRecord, wanted: string): boolean {
  if (resource === null) return false;
  const { type, id } = resource;
  return id === wanted || type === wanted || `${type}:${id}` === wanted;
}
