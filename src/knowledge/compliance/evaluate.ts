import { type Severity, severities } from '../../domain/finding.ts';
import { checkIds } from '../checks/all.ts';
import { cisControls } from './cis.ts';
import { badCertificates, type Control, type Framework, type UnseenControl } from './control.ts';
import { nistControls } from './nist.ts';
import { pciControls, unseenPciControls } from './pci.ts';

export const controls: readonly Control[] = [...cisControls, ...pciControls, ...nistControls];

const unseenControls: readonly UnseenControl[] = unseenPciControls;

/** The fields of a finding that matter to a control. */
export interface EvaluatedFinding {
  id: string;
  title: string;
  severity: Severity;
  port: number | null;
  kev: boolean;
  /** 0..1 */
  confidence: number;
}

/** What a scan found out about one service. */
export interface EvaluatedService {
  port: number;
  /** As in the fingerprint: `https`, `ssh`. Null = not recognized. */
  name: string | null;
  /** A product with its version was recognized. */
  versioned: boolean;
  /** `single`: one handshake. `complete`: every version and suite enumerated. Null = no TLS seen. */
  tls: 'single' | 'complete' | null;
}

export interface EvaluatedHost {
  /** Anonymous FTP logins were tried. */
  loginsTried: boolean;
  services: readonly EvaluatedService[];
  findings: readonly EvaluatedFinding[];
}

/** What fails a control at one port, or at the host as a whole. */
export interface Breach {
  port: number | null;
  severity: Severity;
  description: string;
  findingIds: string[];
}

export type ControlVerdict =
  | { status: 'fail'; breaches: Breach[] }
  | { status: 'pass' | 'not_assessed'; reason: string };

/** A finding below this confidence fails nothing. */
const leastConfidence = 0.5;
/** Maximum length, characters. */
const descriptionLimit = 1000;

/** Evaluates a control for a host, with the evidence of this scan. */
export function evaluateControls(control: Control, host: EvaluatedHost): ControlVerdict {
  const breaches = breachesOf(control, host);
  if (breaches.length > 0) return { status: 'fail', breaches };
  const services = host.services.filter((service) => isAbout(control, service));
  if (services.length === 0) return { status: 'not_assessed', reason: noServiceInScope(control) };
  const half = halfSeen(control, services) ?? untriedLogin(control, host, services);
  if (half !== null) return { status: 'not_assessed', reason: half };
  const guesses = host.findings.filter((finding) => breaks(control, finding)).length;
  if (guesses > 0) {
    return { status: 'not_assessed', reason: `${guesses} of the findings that would fail it are uncertain` };
  }
  return { status: 'pass', reason: `no finding fails it at ${portsText(services)}` };
}

/** Upstream modules that ran, with their options. */
export type Upstream = ReadonlyMap<string, Readonly<Record<string, unknown>>>;

/** Why the scan cannot pass any host: a check that the control needs did not run. Null = all of them ran. */
export function unjudged(control: Control, ran: Upstream): string | null {
  const missing = control.judges.filter((module) => !ran.has(module));
  if (missing.length > 0) return `the scan ran without ${missing.join(' and ')}`;
  if (ran.get('banner_grabber')?.['probes'] === 'none') return 'no service was probed (probes: none)';
  const left = checksLeftOut(control, String(ran.get('misconfig_checker')?.['checks'] ?? 'all'));
  if (left.length > 0) return `misconfig_checker was configured to skip ${left.join(', ')}`;
  const flaws = control.findings.includes('CVE') ? ran.get('cve_matcher') : undefined;
  const narrowed =
    flaws?.['kev_only'] === true || ['high', 'critical'].includes(String(flaws?.['min_severity']));
  return narrowed ? 'cve_matcher was configured to skip findings (kev_only, min_severity)' : null;
}

function checksLeftOut({ findings }: Control, made: string): string[] {
  const words = made.split(',').map((word) => word.trim());
  if (words.includes('all')) return [];
  return findings.filter((id) => checkIds.includes(id) && !words.includes(id));
}

export function unseenOf(framework: Framework): UnseenControl[] {
  return unseenControls.filter((control) => control.framework === framework);
}

function breachesOf(control: Control, { services, findings }: EvaluatedHost): Breach[] {
  const byPort = new Map<number | null, Breach>();
  const add = (port: number | null, severity: Severity, text: string, id: string | null) => {
    const known = byPort.get(port) ?? { port, severity, description: '', findingIds: [] };
    byPort.set(port, {
      port,
      severity: worse(known.severity, severity),
      description: [known.description, text].filter(Boolean).join('; ').slice(0, descriptionLimit),
      findingIds: id === null ? known.findingIds : [...known.findingIds, id],
    });
  };
  for (const finding of findings) {
    if (breaks(control, finding) && finding.confidence >= leastConfidence)
      add(finding.port, finding.severity, finding.title, finding.id);
  }
  for (const { port, name } of services) {
    // A finding at the port already covers it.
    if (name !== null && control.forbidden?.includes(name) && !byPort.has(port))
      add(port, 'medium', `the service ${name} is reachable`, null);
  }
  return [...byPort.values()].sort((a, b) => (a.port ?? -1) - (b.port ?? -1));
}

function breaks({ findings }: Control, { id, severity, kev }: EvaluatedFinding): boolean {
  if (findings.includes(id)) return true;
  const serious = kev || severity === 'critical' || severity === 'high';
  return findings.includes('CVE') && id.startsWith('CVE-') && serious;
}

function worse(a: Severity, b: Severity): Severity {
  return severities.indexOf(a) <= severities.indexOf(b) ? a : b;
}

function isAbout({ about }: Control, { name, tls, versioned }: EvaluatedService): boolean {
  if (about === 'any') return name !== null;
  if (about === 'tls') return tls !== null;
  if (about === 'versions') return versioned;
  return (name !== null && about.includes(name)) || (tls !== null && about.includes('tls'));
}

function noServiceInScope({ about }: Control): string {
  if (about === 'any') return 'no service was recognized on this host';
  if (about === 'tls') return 'no TLS was seen on this host';
  if (about === 'versions') return 'no product with a version was recognized on this host';
  return 'no service it applies to was seen on this host';
}

/** One handshake shows what a server prefers, not what it accepts. */
function halfSeen({ judges, findings }: Control, services: readonly EvaluatedService[]): string | null {
  const handshake = findings.some((id) => id.startsWith('tls-') && !badCertificates.includes(id));
  if (!judges.includes('weak_cipher_checker') || !handshake) return null;
  const single = services.filter(({ tls }) => tls === 'single');
  if (single.length === 0) return null;
  return `only one TLS handshake was made at ${portsText(single)}; enable tls_enumerate to test the rest`;
}

/** Only a login attempt reveals anonymous FTP. */
function untriedLogin(
  { findings }: Control,
  { loginsTried }: EvaluatedHost,
  services: readonly EvaluatedService[],
): string | null {
  if (loginsTried || !findings.includes('ftp-anonymous')) return null;
  const ftp = services.filter(({ name }) => name === 'ftp' || name === 'ftps');
  if (ftp.length === 0) return null;
  return `anonymous FTP was not tested at ${portsText(ftp)}: that requires the option intrusive`;
}

/** Ports listed in a reason. */
const namedPorts = 10;

function portsText(services: readonly EvaluatedService[]): string {
  const ports = [...new Set(services.map(({ port }) => port))].sort((a, b) => a - b);
  const named = ports.slice(0, namedPorts).join(', ');
  const more = ports.length > namedPorts ? ` and ${ports.length - namedPorts} more` : '';
  return `${ports.length === 1 ? 'port' : 'ports'} ${named}${more}`;
}
