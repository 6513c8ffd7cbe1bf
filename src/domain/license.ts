/** Features that require a license on an installation that enforces licenses. */
export const licenseFeatures = [
  'jobs',
  'metrics',
  'ui',
  'multi_tenant',
  'pdf_reporter',
  'compliance_evaluator',
  'plugin_signatures',
] as const;
export type LicenseFeature = (typeof licenseFeatures)[number];

/** The plans that a license may name. */
export const licensePlans = ['starter', 'team', 'business', 'enterprise'] as const;
export type LicensePlan = (typeof licensePlans)[number];
/** `free`: an installation that enforces licenses without a valid one. */
export type EffectivePlan = LicensePlan | 'free';

/** API requests per minute and client; 0 = unlimited. */
export const planRates: Record<EffectivePlan, number> = {
  free: 60,
  starter: 60,
  team: 100,
  business: 500,
  enterprise: 0,
};

/** Module types that require a license, and the feature they belong to. */
const licensedModules: Readonly<Record<string, LicenseFeature>> = {
  pdf_reporter: 'pdf_reporter',
  compliance_evaluator: 'compliance_evaluator',
};

/** The features that a graph of these modules requires. */
export function featuresOfModules(moduleTypes: readonly string[]): LicenseFeature[] {
  const needed = moduleTypes.flatMap((type) => (Object.hasOwn(licensedModules, type) ? [type] : []));
  return [...new Set(needed.flatMap((type) => licensedModules[type] ?? []))];
}

/** Claims of a license. */
export interface LicenseClaims {
  customer_id: string;
  license_id: string;
  plan: LicensePlan;
  features: LicenseFeature[];
  /** Epoch seconds. */
  iat: number;
  /** Epoch seconds; the license remains usable during the grace period. */
  exp: number;
}

const dayMs = 86_400_000;
/** Grace period after the end of a license, milliseconds. */
const graceMs = 7 * dayMs;
/** Days before the end at which a warning is due, nearest first. */
const warningDays = [1, 7, 30];

/** `future`: the issue date is after the current time of this machine. */
export type LicenseState = 'valid' | 'grace' | 'expired' | 'future';

/** Tolerated clock difference between two machines, milliseconds. */
const clockSkewMs = 300_000;

export function licenseState({ iat, exp }: Pick<LicenseClaims, 'iat' | 'exp'>, now: number): LicenseState {
  if (iat * 1000 > now + clockSkewMs) return 'future';
  if (now < exp * 1000) return 'valid';
  return now < exp * 1000 + graceMs ? 'grace' : 'expired';
}

/** Epoch milliseconds. */
export function graceEnd({ exp }: Pick<LicenseClaims, 'exp'>): number {
  return exp * 1000 + graceMs;
}

/** A warning about the end of a license. */
export interface LicenseNotice {
  /** Changes when a new warning is due: daily within the last day and in the grace period. */
  stage: string;
  text: string;
}

/** The warning that is due now, or null. */
export function licenseNotice(claims: LicenseClaims, now: number): LicenseNotice | null {
  const end = new Date(claims.exp * 1000).toISOString();
  switch (licenseState(claims, now)) {
    case 'future':
      return { stage: 'future', text: 'the license is not valid yet; is the clock of this machine right?' };
    case 'expired':
      return { stage: 'expired', text: `the license expired on ${end} and its grace period is over` };
    case 'grace': {
      const last = new Date(graceEnd(claims)).toISOString();
      const day = Math.floor((now - claims.exp * 1000) / dayMs);
      return {
        stage: `grace-${day}`,
        text: `the license expired on ${end}; its features work until ${last}`,
      };
    }
    case 'valid': {
      const left = claims.exp * 1000 - now;
      const due = warningDays.find((days) => left <= days * dayMs);
      const days = Math.ceil(left / dayMs);
      return due === undefined
        ? null
        : {
            stage: `due-${due}`,
            text: `the license expires on ${end}, in ${days} ${days === 1 ? 'day' : 'days'}`,
          };
    }
  }
}
