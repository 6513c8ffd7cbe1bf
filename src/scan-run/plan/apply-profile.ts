import type { Config } from '../../config/schema.ts';
import type { ScanOptions } from '../../domain/scan.ts';
import type { ProfileEntry } from '../../engine/graph/graph-library.ts';
import type { ProfileSettings } from '../../engine/graph/profile-file.ts';
import type { Submission } from './submission.ts';

/** Options that no submission can set. */
type Probing = Pick<ScanOptions, 'discovery_probes' | 'probe_timeout'>;

/** A submission completed by the settings of its profile. */
export interface AppliedProfile {
  submission: Submission;
  probing: Probing;
}

/** Builtin profiles have no settings: their graphs contain them. */
export function applyProfile(
  profile: ProfileEntry | undefined,
  submission: Submission,
  config: Config,
): AppliedProfile {
  if (!profile?.settings) return { submission, probing: {} };
  const { settings } = profile;
  const { options = {} } = submission;
  const rate =
    typeof settings.rate === 'number' ? Math.min(settings.rate, config.scanner.max_rate) : settings.rate;
  return {
    submission: {
      ...submission,
      dag: submission.dag ?? profile.dag,
      ports: submission.ports ?? settings.ports,
      rate: submission.rate ?? rate,
      vuln: submission.vuln ?? settings.vuln,
      notifications: submission.notifications ?? settings.notifications,
      options: {
        ...options,
        timeout: options.timeout ?? settings.timeout,
        retries: options.retries ?? settings.retries,
        concurrency: options.concurrency ?? settings.concurrency,
        discover_profile: options.discover_profile ?? settings.discoverProfile,
        discovery_timeout: options.discovery_timeout ?? settings.discoveryTimeout,
        discovery_retries: options.discovery_retries ?? settings.discoveryRetries,
        fingerprint: options.fingerprint ?? settings.fingerprint,
        max_protocols: options.max_protocols ?? settings.maxProtocols,
        min_severity: options.min_severity ?? settings.minSeverity,
      },
    },
    probing: probingOf(settings, options),
  };
}

/** The finer settings of a profile yield to the coarser ones of a submission. */
function probingOf(settings: ProfileSettings, options: ScanOptions): Probing {
  const { probeTimeout, discoveryProbes } = settings;
  const ownDiscovery = options.discover_profile !== undefined || options.discover === false;
  return {
    ...(options.timeout === undefined && probeTimeout !== undefined && { probe_timeout: probeTimeout }),
    ...(!ownDiscovery && discoveryProbes && { discovery_probes: withoutRequested(discoveryProbes, options) }),
  };
}

function withoutRequested(
  probes: NonNullable<ProfileSettings['discoveryProbes']>,
  { discovery_timeout, discovery_retries }: ScanOptions,
): NonNullable<Probing['discovery_probes']> {
  const requested = new Set<string>();
  if (discovery_timeout !== undefined) requested.add('timeout');
  if (discovery_retries !== undefined) requested.add('retry');
  return Object.fromEntries(
    Object.entries(probes).map(([module, { enabled, config }]) => {
      const left = Object.entries(config).filter(([option]) => !requested.has(option));
      return [module, { enabled, config: Object.fromEntries(left) }];
    }),
  );
}
