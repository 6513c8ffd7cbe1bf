import { userInfo } from 'node:os';
import type { Config } from '../../config/schema.ts';
import { PortolanError } from '../../domain/errors.ts';
import { AuditLogs } from '../../workspace/audit/audit-logs.ts';
import type { AuditActor, AuditEvent } from '../../workspace/audit/audit-record.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import { note } from '../terminal/output.ts';

/** A change to record. */
export interface Change {
  /** E.g. `token.create`. */
  operation: string;
  /** Id of the changed object, if it already has one. */
  id?: string | null;
  tenant?: string | null;
  details?: Record<string, unknown>;
}

/**
 * Makes a change and records it in the audit log of the workspace, also when it is rejected. The server of the
 * workspace may append to the same log concurrently.
 * @param found returns facts that are known only after the change
 */
export async function recordChange<T>(
  { config, workspace }: { config: Config; workspace: Pick<Workspace, 'dir'> },
  change: Change,
  work: () => Promise<T>,
  found: (result: T) => Partial<Change> = () => ({}),
): Promise<T> {
  const audit = new AuditLogs({
    workspaceDir: workspace.dir,
    tenants: config.multi_tenant.enabled ? config.multi_tenant.tenants : [],
    settings: config.logging.audit,
    onFault: (message) => note(`warning: ${message}`),
    onRecovery: (message) => note(`warning: ${message}`),
    onGap: (message) => note(`warning: ${message}`),
  });
  try {
    const result = await work();
    await audit.record(eventOf({ ...change, ...found(result) }, 'allowed'));
    return result;
  } catch (error) {
    const code = error instanceof PortolanError ? error.code : 'internal_error';
    const outcome = error instanceof PortolanError ? 'denied' : 'error';
    await audit.record(eventOf({ ...change, details: { ...change.details, error: code } }, outcome));
    throw error;
  } finally {
    await audit.close();
  }
}

function eventOf(
  { operation, id = null, tenant = null, details = {} }: Change,
  outcome: AuditEvent['outcome'],
): AuditEvent {
  return {
    event: 'config_change',
    outcome,
    actor: person(),
    tenant,
    request: null,
    resource: { type: operation.split('.')[0] ?? operation, id: id?.slice(0, 64) ?? null },
    details: { operation, ...details },
  };
}

/** The user who runs the command. */
function person(): AuditActor {
  try {
    const { uid, username } = userInfo();
    return { type: 'user', id: String(uid), name: username };
  } catch {
    return { type: 'user', id: String(process.getuid?.() ?? ''), name: null };
  }
}
