import { join } from 'node:path';
import type { Config } from '../../config/schema.ts';
import { PortolanError } from '../../domain/errors.ts';
import {
  type EffectivePlan,
  featuresOfModules,
  graceEnd,
  type LicenseClaims,
  type LicenseFeature,
  type LicenseNotice,
  licenseFeatures,
  licenseNotice,
  licenseState,
  planRates,
} from '../../domain/license.ts';
import { readPublicKey, readSmallFile, verifyLicense } from './verify-license.ts';

/** Public facts about the license of an installation. Times are ISO 8601 UTC. */
export interface LicenseReport {
  enforced: boolean;
  /** The plan whose limits apply. */
  plan: EffectivePlan;
  /** Whether a usable license is installed, including the grace period. */
  valid: boolean;
  expires_at: string | null;
  /** Features available now. */
  features: LicenseFeature[];
  grace_until: string | null;
}

/** The file of the installed license. */
export function licenseFile({ license, workspace }: Pick<Config, 'license' | 'workspace'>): string {
  return license.file || join(workspace.dir, 'config', 'license.key');
}

/**
 * Reads the installed license. A missing or invalid license is not an error: it just grants nothing.
 * @throws PortolanError `configuration` if licenses are enforced and the public key is invalid
 */
export async function readLicense(config: Pick<Config, 'license' | 'workspace'>): Promise<License> {
  const { enforce, public_key: publicKey } = config.license;
  try {
    const text = await readInstalled(licenseFile(config));
    if (publicKey === null) {
      if (enforce) throw new PortolanError('configuration', 'license.enforce requires license.public_key');
      const problem = text === null ? null : 'cannot verify it without license.public_key';
      return new License(enforce, null, problem);
    }
    const key = await readPublicKey(publicKey);
    if (text === null) return new License(enforce, null, enforce ? 'no license is installed' : null);
    return new License(enforce, await verifyLicense(text, key), null);
  } catch (error) {
    if (!(error instanceof PortolanError)) throw error;
    if (error.code === 'configuration' && enforce) throw error;
    return new License(enforce, null, error.message);
  }
}

/** @returns null if there is none @throws PortolanError `license_required` if it cannot be read */
async function readInstalled(file: string): Promise<string | null> {
  try {
    return await readSmallFile(file);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return null;
    throw new PortolanError('license_required', `Cannot read the license: ${code ?? message}.`);
  }
}

/** What an installation may use: everything without `license.enforce`. */
export class License {
  readonly enforced: boolean;
  /** Null without a valid license. */
  readonly claims: LicenseClaims | null;
  /** Why there is none; null otherwise. */
  readonly problem: string | null;

  constructor(enforced: boolean, claims: LicenseClaims | null, problem: string | null) {
    this.enforced = enforced;
    this.claims = claims;
    this.problem = problem;
  }

  /** Whether a license is installed that is usable now. */
  isValid(now = Date.now()): boolean {
    return this.claims !== null && ['valid', 'grace'].includes(licenseState(this.claims, now));
  }

  plan(now = Date.now()): EffectivePlan {
    if (!this.enforced) return 'enterprise';
    return this.claims !== null && this.isValid(now) ? this.claims.plan : 'free';
  }

  /** API requests per minute and client; 0 = unlimited. */
  requestsPerMinute(now = Date.now()): number {
    return planRates[this.plan(now)];
  }

  features(now = Date.now()): LicenseFeature[] {
    if (!this.enforced) return [...licenseFeatures];
    return this.isValid(now) ? (this.claims?.features ?? []) : [];
  }

  /** @throws PortolanError `license_required` */
  demand(feature: LicenseFeature, now = Date.now()): void {
    if (this.features(now).includes(feature)) return;
    throw new PortolanError('license_required', `This installation requires a license for ${feature}.`, {
      feature,
    });
  }

  /** For the modules of a graph. @throws PortolanError `license_required` */
  demandModules(moduleTypes: readonly string[], now = Date.now()): void {
    for (const feature of featuresOfModules(moduleTypes)) this.demand(feature, now);
  }

  /** Current notice for operators: why the license grants nothing, or that it expires. */
  notice(now = Date.now()): LicenseNotice | null {
    if (this.claims) return licenseNotice(this.claims, now);
    return this.problem === null ? null : { stage: 'none', text: this.problem };
  }

  report(now = Date.now()): LicenseReport {
    const { claims } = this;
    return {
      enforced: this.enforced,
      plan: this.plan(now),
      valid: this.isValid(now),
      expires_at: claims && new Date(claims.exp * 1000).toISOString(),
      features: this.features(now),
      grace_until: claims && new Date(graceEnd(claims)).toISOString(),
    };
  }
}
