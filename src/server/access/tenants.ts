import type { RecordHolder } from '../../actions/scans/record-reader.ts';
import type { Config } from '../../config/schema.ts';
import { invalidRequest, PortolanError } from '../../domain/errors.ts';
import { tenantPattern } from '../../domain/tenant.ts';
import type { ModuleCatalog } from '../../scan-run/plan/plan-scan.ts';
import type { RecordObserver } from '../../scan-run/results/open-results.ts';
import type { Store } from '../../store/open.ts';
import type { TokenRecord } from '../../store/tokens.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import type { Installed } from '../installed.ts';
import type { DamagedRecords } from '../results/damaged-records.ts';
import type { ScanFolders } from '../results/scan-folders.ts';
import type { RequestHead } from './auth.ts';

/**
 * What a request may see and change: store, workspace, and the installation that scans are planned with, as seen by
 * its tenant.
 */
export interface TenantContext {
  /** Null without tenants, and for requests about the whole service. */
  tenant: string | null;
  store: Store;
  workspace: Workspace;
  records: RecordHolder;
  /** Observes the records read for the request. */
  observer: RecordObserver;
  /** Current installation: a reload may replace it. */
  readonly installed: ModuleCatalog;
}

export interface TenantsInput {
  config: Pick<Config, 'multi_tenant'>;
  /** Of all tenants. */
  store: Store;
  /** Of all tenants. */
  workspace: Workspace;
  folders: ScanFolders;
  damaged: DamagedRecords;
  installed: Installed;
}

/** The tenant context of a request, or the reason for its rejection. */
export type Choice = { space: TenantContext } | { refusal: PortolanError };

/**
 * Finds the tenant of every request. A request without a tenant, or with another one than its token's, gets no tenant
 * context, so routes cannot reach data of another tenant.
 */
export class Tenants {
  readonly #enabled: boolean;
  readonly #default: string | null;
  readonly #spaces: ReadonlyMap<string, TenantContext>;
  readonly #withoutTenants: TenantContext;
  readonly #wholeService: TenantContext;

  constructor({ config, store, workspace, folders, damaged, installed }: TenantsInput) {
    const settings = config.multi_tenant;
    const spaceOf = (tenant: string | null): TenantContext => ({
      tenant,
      store: store.forTenant(tenant),
      workspace: workspace.forTenant(tenant),
      records: { hold: (scan, part) => folders.hold(scan, tenant, part) },
      observer: damaged.observer(store.forTenant(tenant)),
      get installed() {
        return installed.of(tenant);
      },
    });
    this.#enabled = settings.enabled;
    this.#default = settings.default_tenant;
    this.#spaces = new Map(settings.tenants.map((tenant) => [tenant, spaceOf(tenant)]));
    this.#withoutTenants = spaceOf(null);
    this.#wholeService = Object.assign(spaceOf(null), { store, workspace });
  }

  /**
   * @param token null if no tokens are required: then the header alone decides
   * @param isWholeService whether the route concerns the whole service and needs no tenant
   */
  choose(request: RequestHead, token: TokenRecord | null, isWholeService: boolean): Choice {
    try {
      if (!this.#enabled) return { space: this.#spaceWithoutTenants(token, isWholeService) };
      const name = tenantHeader(request);
      if (name === null && isWholeService) {
        return { space: token?.tenant ? this.#spaceFor(token.tenant, token) : this.#wholeService };
      }
      return { space: this.#spaceFor(name ?? this.#defaultTenant(), token) };
    } catch (refusal) {
      if (refusal instanceof PortolanError) return { refusal };
      throw refusal;
    }
  }

  /** A token bound to a tenant has access to nothing else, even if tenants are disabled. */
  #spaceWithoutTenants(token: TokenRecord | null, isWholeService: boolean): TenantContext {
    if (token?.tenant && !isWholeService) throw forbidden();
    return this.#withoutTenants;
  }

  #defaultTenant(): string {
    if (this.#default !== null) return this.#default;
    throw badHeader('is missing');
  }

  #spaceFor(name: string, token: TokenRecord | null): TenantContext {
    const space = this.#spaces.get(name);
    if (!space || (token && !mayActFor(token, name))) throw forbidden();
    return space;
  }
}

/** A token without tenant belongs to the operator; only `admin` ones act for tenants. */
function mayActFor({ tenant, scopes }: TokenRecord, name: string): boolean {
  return tenant === null ? scopes.includes('admin') : tenant === name;
}

/**
 * Where tenants are switched off, the token of one must not reach what belongs to the whole service.
 * @throws PortolanError `tenant_forbidden`
 */
export function checkTokenTenant(
  { tenant }: Pick<TenantContext, 'tenant'>,
  token: TokenRecord | null,
  what: string,
): void {
  if (!token?.tenant || token.tenant === tenant) return;
  throw new PortolanError('tenant_forbidden', `The token is not valid for ${what} of the service.`);
}

/** @returns null without the header @throws PortolanError `invalid_request` */
function tenantHeader({ rawHeaders }: RequestHead): string | null {
  const values = rawHeaders.filter(
    (_value, index) => index % 2 === 1 && rawHeaders[index - 1]?.toLowerCase() === 'x-tenant-id',
  );
  const [value, ...others] = values;
  if (value === undefined) return null;
  if (others.length > 0) throw badHeader('must be sent once');
  if (tenantPattern.test(value)) return value;
  throw badHeader('must be one name of at most 63 lower-case letters, digits and dashes');
}

function badHeader(reason: string): PortolanError {
  return invalidRequest(`X-Tenant-ID ${reason}.`, [{ field: 'X-Tenant-ID', reason }]);
}

/** The same message for an unknown tenant and a foreign one. */
function forbidden(): PortolanError {
  return new PortolanError('tenant_forbidden', 'Unknown tenant, or the token is not valid for it.');
}

/** Whether a request may see settings and paths of the machine. @param token null = none is required */
export function isOperator(token: TokenRecord | null): boolean {
  return token === null || (token.tenant === null && token.scopes.includes('admin'));
}
