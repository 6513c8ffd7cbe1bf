/** What needs a licence on an installation that enforces one. */
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

/** The plans that a licence may name. */
export const licensePlans = ['starter', 'team', 'business', 'enterprise'] as const;
export type LicensePlan = (typeof licensePlans)[number];
/** `free`: an installation that enforces licences and has none that is good. */
export type EffectivePlan = LicensePlan | 'free';

/** API requests per minute and client; 0 = unlimited. */
export const planRates: Record<EffectivePlan, number> = {
  free: 60,
  starter: 60,
  team: 100,
  business: 500,
  enterprise: 0,
};

/** Module types that need a licence, and the feature that they are. */
const licensedModules: Readonly<Record<string, LicenseFeature>> = {
  pdf_reporter: 'pdf_reporter',
  compliance_evaluator: 'compliance_evaluator',
};

/** The features that a graph of these modules needs. */
export function featuresOfModules(moduleTypes: readonly string[]): LicenseFeature[] {
  const needed = moduleTypes.flatMap((type) => (Object.hasOwn(licensedModules, type) ? [type] : []));
  return [...new Set(needed.flatMap((type) => licensedModules[type] ?? []))];
}

/** What a licence says. */
export interface LicenseClaims {
  customer_id: string;
  license_id: string;
  plan: LicensePlan;
  features: LicenseFeature[];
  /** Epoch seconds. */
  iat: number;
  /** Epoch seconds; the licence works on for the grace time. */
  exp: number;
}

const dayMs = 86_400_000;
/** A licence works on for so long after its end. */
const graceMs = 7 * dayMs;
/** Days before the end at which a warning is due, the nearest first. */
const warningDays = [1, 7, 30];

/** `future`: it was issued later than this machine's clock says it is now. */
export type LicenseState = 'valid' | 'grace' | 'expired' | 'future';

/** Clocks of two machines may differ by so much. */
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

/** A warning about the end of a licence. */
export interface LicenseNotice {
  /** Changes when a new warning is due; within the last day and in the grace time it is due every day. */
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
