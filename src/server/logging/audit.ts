import type { Config } from '../../config/schema.ts';
import type { Scan, ScanRequest } from '../../domain/scan.ts';
import { AuditLogs } from '../../workspace/audit/audit-logs.ts';
import type { AuditActor, AuditEvent } from '../../workspace/audit/audit-record.ts';
import type { ServerLog } from './log.ts';

const system: AuditActor = { type: 'system', id: null, name: null };

/** Audit logs of a server. @param config the live one: a reload changes it in place */
export function openAuditLogs(
  { logging, multi_tenant }: Pick<Config, 'logging' | 'multi_tenant'>,
  workspaceDir: string,
  log: ServerLog,
): AuditLogs {
  return new AuditLogs({
    workspaceDir,
    tenants: multi_tenant.enabled ? multi_tenant.tenants : [],
    settings: logging.audit,
    onFault: (message, err) => log.error({ err }, message),
    onRecovery: (message) => log.warn(message),
    onGap: (message) => log.error(message),
  });
}

/** A worker starts or resumes a scan. */
export function scanStarted(request: ScanRequest, tenant: string | null, resumes: number): AuditEvent {
  const { scan_id, targets, profile } = request;
  return {
    event: 'scan_start',
    outcome: 'allowed',
    actor: submitter(request.user),
    tenant,
    request: null,
    resource: { type: 'scan', id: scan_id },
    details: { targets: targets.length, profile, resumes },
  };
}

/** A scan ended, in any way. */
export function scanCompleted(scan: Scan, tenant: string | null): AuditEvent {
  const { scan_id, status, error, results, started_at, completed_at } = scan;
  return {
    event: 'scan_complete',
    outcome: status === 'completed' ? 'allowed' : 'error',
    actor: system,
    tenant,
    request: null,
    resource: { type: 'scan', id: scan_id },
    details: { status, error: error?.code ?? null, results, started_at, completed_at },
  };
}

/**
 * The server itself changed configuration, license, plugins or vulnerability data, e.g. by a reload.
 * @param operation such as `config.reload`
 */
export function configChanged(
  operation: string,
  ok: boolean,
  details: Record<string, unknown> = {},
): AuditEvent {
  return {
    event: 'config_change',
    outcome: ok ? 'allowed' : 'error',
    actor: system,
    tenant: null,
    request: null,
    resource: { type: operation.split('.')[0] ?? operation, id: null },
    details: { operation, ...details },
  };
}

/** Who submitted a scan: a token, the command line, or a client without a token. */
function submitter(user: string | null): AuditActor {
  if (user === null) return { type: 'anonymous', id: null, name: null };
  return user === 'cli' ? { type: 'user', id: null, name: 'cli' } : { type: 'token', id: user, name: null };
}
