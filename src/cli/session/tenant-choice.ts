import type { Config } from '../../config/schema.ts';
import { PortolanError } from '../../domain/errors.ts';

/** Tenant of local scans; null without tenants. @throws PortolanError `tenant_forbidden` */
export function chosenTenant({
  multi_tenant: { enabled, tenants, default_tenant: byDefault },
}: Pick<Config, 'multi_tenant'>): string | null {
  if (!enabled) return null;
  const tenant = process.env['SERVICE_TENANT_ID'] || byDefault;
  if (tenant === null || tenants.includes(tenant)) return tenant;
  throw new PortolanError('tenant_forbidden', 'SERVICE_TENANT_ID is not in multi_tenant.tenants');
}
