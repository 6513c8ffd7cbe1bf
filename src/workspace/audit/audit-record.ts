import type { auditEvents } from '../../config/schema.ts';
import { withoutTokens } from '../../domain/text/secret-text.ts';

export type AuditEventName = (typeof auditEvents)[number];

/** What happened; the log adds the time and the chain. */
export interface AuditEvent {
  event: AuditEventName;
  /** `denied`: rejected; `error`: the service failed. */
  outcome: 'allowed' | 'denied' | 'error';
  actor: AuditActor;
  tenant: string | null;
  /** Null if not caused by an API request. */
  request: AuditRequest | null;
  resource: { type: string; id: string | null } | null;
  details: Record<string, unknown>;
}

export interface AuditActor {
  /** `user`: a person at the command line of this machine; `system`: the server itself. */
  type: 'token' | 'anonymous' | 'user' | 'system';
  id: string | null;
  name: string | null;
}

export interface AuditRequest {
  id: string;
  method: string;
  path: string;
  status: number;
  ip: string;
  user_agent: string | null;
  duration_ms: number;
}

/** Records missing from the log. */
export interface AuditGap {
  /**
   * `removed`: the log ended before the last written record; `end_unknown`: `.head` was missing or damaged;
   * `not_written`: they waited in memory and were lost.
   */
  reason: 'removed' | 'end_unknown' | 'not_written';
  /** Null if unknown. */
  records: number | null;
  /** File they were removed from. */
  file?: string;
  /** Since when the first of them had to wait. */
  since?: string;
}

/** Maximum line length of an audit log, bytes. Record contents are truncated to less. */
export const maxAuditLine = 64 * 1024;

/** `details.operation` of a gap record. */
const gapOperation = 'audit.gap';

/** Control and format characters beyond ASCII, which JSON does not escape. */
const unsafe = /[\x7f-\x9f\p{Cf}\p{Zl}\p{Zp}]/gu;

/** An event as JSON text, before the chain is added. */
export function recordText(event: AuditEvent, now: Date): string {
  const { event: name, outcome, actor, tenant, request, resource, details } = event;
  const whole = {
    timestamp: now.toISOString(),
    event: name,
    outcome,
    actor,
    tenant,
    request,
    resource,
    details,
  };
  const text = safeText(whole);
  // Chain and line feed are added later.
  return Buffer.byteLength(text) <= maxAuditLine - 1024
    ? text
    : safeText({ ...whole, details: { cut: true } });
}

/** Record for missing ones. Always written, whatever events are configured. */
export function gapRecord(gap: AuditGap, now: Date): string {
  const event: AuditEvent = {
    event: 'config_change',
    outcome: 'error',
    actor: { type: 'system', id: null, name: null },
    tenant: null,
    request: null,
    resource: { type: 'audit', id: null },
    details: { operation: gapOperation, ...gap },
  };
  return recordText(event, now);
}

/** The gap of a gap record, or null. */
export function gapOf(line: string): AuditGap | null {
  if (!line.includes(`"operation":"${gapOperation}"`)) return null;
  try {
    const { event, details } = JSON.parse(line) as AuditEvent;
    if (event !== 'config_change' || details['operation'] !== gapOperation) return null;
    return details as unknown as AuditGap;
  } catch {
    return null;
  }
}

/** A gap as text. */
export function gapText({ reason, records, file, since }: AuditGap): string {
  const many = records === null ? 'records' : records === 1 ? '1 record' : `${records} records`;
  if (reason === 'removed') return `${many} were removed from the end of the log${file ? ` (${file})` : ''}`;
  if (reason === 'not_written')
    return `${many} could not be written and were lost${since ? `, since ${since}` : ''}`;
  return 'the end of the log was unknown (.head was missing or damaged): records may have been removed';
}

function safeText(value: unknown): string {
  return withoutTokens(JSON.stringify(value)).replace(unsafe, (character) =>
    Array.from(
      { length: character.length },
      (_, index) => `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`,
    ).join(''),
  );
}
