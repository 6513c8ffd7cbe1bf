import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { tenantPattern } from '../../domain/tenant.ts';
import { isMissing } from '../atomic-file.ts';
import { AuditLog, type AuditLogInput } from './audit-log.ts';
import type { AuditEvent } from './audit-record.ts';

export interface AuditLogsInput extends Omit<AuditLogInput, 'folder'> {
  /** The workspace of the service, not of a tenant. */
  workspaceDir: string;
  /** Tenants with their own log. */
  tenants: readonly string[];
}

/** The folder of a log. @param tenant null for that of the service */
export function auditFolder(workspaceDir: string, tenant: string | null): string {
  return tenant === null ? join(workspaceDir, 'audit') : join(workspaceDir, 'tenants', tenant, 'audit');
}

/** Tenants with a log, including those no longer configured; sorted by name. */
export async function tenantsWithLog(workspaceDir: string): Promise<string[]> {
  try {
    return (await readdir(join(workspaceDir, 'tenants'))).filter((name) => tenantPattern.test(name)).sort();
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}

/**
 * The audit logs of a service: its own, and one per tenant, each with its own chain: a tenant's log can be handed out
 * without revealing others. If one file is configured, it contains all records.
 */
export class AuditLogs {
  readonly #input: AuditLogsInput;
  readonly #service: AuditLog;
  /** Opened at the first record of the tenant. */
  readonly #tenants = new Map<string, AuditLog>();
  #gapAtStart: string | null = null;

  constructor(input: AuditLogsInput) {
    this.#input = input;
    this.#service = this.#open(null);
  }

  /** Why a log is not writable now, or null. */
  get fault(): string | null {
    for (const log of this.#logs()) if (log.fault !== null) return log.fault;
    return null;
  }

  /** What is missing since the start of this process, or null. */
  get gap(): string | null {
    for (const log of this.#logs()) if (log.gap !== null) return log.gap;
    return this.#gapAtStart;
  }

  /** Compares every log with its head; gap records report what is missing. Never rejects. */
  async check(): Promise<void> {
    const { settings, tenants, workspaceDir } = this.#input;
    await this.#service.check();
    if (!settings.enabled || settings.file !== '') return;
    for (const tenant of tenants) {
      if (!existsSync(auditFolder(workspaceDir, tenant))) continue;
      // Closed again: a service may have more tenants than file handles.
      const log = this.#open(tenant);
      await log.check();
      this.#gapAtStart ??= log.gap;
      await log.close();
    }
  }

  /** Resolves when the record is in its log and survives the exit of the process, or must wait. Never rejects. */
  record(event: AuditEvent): Promise<void> {
    return this.#logOf(event.tenant).record(event);
  }

  /** Writes waiting records and makes them survive a power failure. */
  async close(): Promise<void> {
    await Promise.all(this.#logs().map((log) => log.close()));
  }

  #logs(): AuditLog[] {
    return [this.#service, ...this.#tenants.values()];
  }

  #logOf(tenant: string | null): AuditLog {
    const { settings, tenants } = this.#input;
    // A reload may have set or unset a file.
    if (tenant === null || settings.file !== '' || !tenants.includes(tenant)) return this.#service;
    const known = this.#tenants.get(tenant) ?? this.#open(tenant);
    this.#tenants.set(tenant, known);
    return known;
  }

  #open(tenant: string | null): AuditLog {
    return new AuditLog({ ...this.#input, folder: auditFolder(this.#input.workspaceDir, tenant) });
  }
}
