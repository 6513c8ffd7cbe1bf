import { join } from 'node:path';
import type { Config } from '../../config/schema.ts';
import { PortolanError } from '../../domain/errors.ts';
import {
  featuresOfModules,
  graceEnd,
  type LicenceClaims,
  type LicenceFeature,
  type LicenceNotice,
  licenceFeatures,
  licenceNotice,
  licenceState,
  type Plan,
  planRates,
} from '../../domain/license.ts';
import { readPublicKey, readSmallFile, verifyLicence } from './verify-license.ts';

/** What may be told about the licence of an installation. Times are ISO 8601 UTC. */
export interface LicenceReport {
  enforced: boolean;
  /** The plan whose limits hold. */
  plan: Plan;
  /** Whether a licence is installed that works now, in its grace time too. */
  valid: boolean;
  expires_at: string | null;
  /** What may be used now. */
  features: LicenceFeature[];
  grace_until: string | null;
}

/** The file of the installed licence. */
export function licenceFile({ license, workspace }: Pick<Config, 'license' | 'workspace'>): string {
  return license.file || join(workspace.dir, 'config', 'license.key');
}

/**
 * Reads the installed licence. A licence that is missing or not good is no error: it only gives nothing.
 * @throws PortolanError `configuration` when licences are enforced and the public key is no good
 */
export async function readLicence(config: Pick<Config, 'license' | 'workspace'>): Promise<Licence> {
  const { enforce, public_key: publicKey } = config.license;
  try {
    const text = await readInstalled(licenceFile(config));
    if (publicKey === null) {
      if (enforce) throw new PortolanError('configuration', 'license.enforce needs license.public_key');
      const problem = text === null ? null : 'without license.public_key it cannot be checked';
      return new Licence(enforce, null, problem);
    }
    const key = await readPublicKey(publicKey);
    if (text === null) return new Licence(enforce, null, enforce ? 'no licence is installed' : null);
    return new Licence(enforce, await verifyLicence(text, key), null);
  } catch (error) {
    if (!(error instanceof PortolanError)) throw error;
    if (error.code === 'configuration' && enforce) throw error;
    return new Licence(enforce, null, error.message);
  }
}

/** @returns null when there is none @throws PortolanError `license_required` when it cannot be read */
async function readInstalled(file: string): Promise<string | null> {
  try {
    return await readSmallFile(file);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return null;
    throw new PortolanError('license_required', `The licence cannot be read: ${code ?? message}.`);
  }
}

/** What an installation may do. Without `license.enforce` that is everything. */
export class Licence {
  readonly enforced: boolean;
  /** Null when there is none that is good. */
  readonly claims: LicenceClaims | null;
  /** Why there is none. */
  readonly problem: string | null;

  constructor(enforced: boolean, claims: LicenceClaims | null, problem: string | null) {
    this.enforced = enforced;
    this.claims = claims;
    this.problem = problem;
  }

  /** Whether a licence is installed that works now. */
  isValid(now = Date.now()): boolean {
    return this.claims !== null && ['valid', 'grace'].includes(licenceState(this.claims, now));
  }

  plan(now = Date.now()): Plan {
    if (!this.enforced) return 'enterprise';
    return this.claims !== null && this.isValid(now) ? this.claims.plan : 'free';
  }

  /** API requests per minute and client; 0 = unlimited. */
  requestsPerMinute(now = Date.now()): number {
    return planRates[this.plan(now)];
  }

  features(now = Date.now()): LicenceFeature[] {
    if (!this.enforced) return [...licenceFeatures];
    return this.isValid(now) ? (this.claims?.features ?? []) : [];
  }

  /** @throws PortolanError `license_required` */
  demand(feature: LicenceFeature, now = Date.now()): void {
    if (this.features(now).includes(feature)) return;
    throw new PortolanError('license_required', `This installation needs a licence for ${feature}.`, {
      feature,
    });
  }

  /** For the modules of a graph. @throws PortolanError `license_required` */
  demandModules(moduleTypes: readonly string[], now = Date.now()): void {
    for (const feature of featuresOfModules(moduleTypes)) this.demand(feature, now);
  }

  /** What an operator should be told now: why the licence gives nothing, or that it ends. */
  notice(now = Date.now()): LicenceNotice | null {
    if (this.claims) return licenceNotice(this.claims, now);
    return this.problem === null ? null : { stage: 'none', text: this.problem };
  }

  report(now = Date.now()): LicenceReport {
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
