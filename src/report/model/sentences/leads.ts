import { classesText } from '../findings/class-counts.ts';
import type { Action, Coverage, FindingKind, Report, ReportSummary } from '../report.ts';
import { countedText, numberText, pluralText } from '../report-text.ts';

/** What the first sentences of the sections are made of. */
type LeadFacts = Pick<
  Report,
  'summary' | 'actions' | 'kinds' | 'kindsLeft' | 'hosts' | 'services' | 'certificates'
> & {
  evaluated: boolean;
  /** The scan did not reach its end: numbers are those so far. */
  partial: boolean;
};

/** The first sentences of the sections. */
export function leadsOf(facts: LeadFacts): Report['leads'] {
  return {
    summary: summaryLead(facts),
    fixes: fixLead(facts),
    findings: findingsLead(facts),
    hosts: hostsLead(facts),
    services: servicesLead(facts),
    certificates: certificatesLead(facts),
  };
}

function summaryLead({ summary, actions, evaluated, partial }: LeadFacts): string {
  const soFar = partial ? ' so far' : '';
  const hosts = `${pluralText(summary.hosts, 'host')} answered.`;
  if (summary.findings === 0)
    return evaluated ? `${hosts} No findings on them${soFar}.` : `${hosts} Findings were not asked for.`;
  const they = summary.hosts === 1 ? 'It has' : 'They have';
  const findings = `${they} ${pluralText(summary.findings, 'finding')}${soFar}, ${numberText(summary.criticalOrHigh.all)} of them critical or high.`;
  return [hosts, findings, exploitedText(summary), exploitedActionsText(summary, actions)]
    .filter((text) => text !== '')
    .join(' ');
}

function exploitedText({ exploited }: ReportSummary): string {
  if (exploited.all === 0) return 'None is known exploited.';
  const verb = exploited.all === 1 ? 'is' : 'are';
  return `${numberText(exploited.all)} ${verb} known exploited: ${classesText(exploited)}.`;
}

function exploitedActionsText({ exploited }: ReportSummary, actions: readonly Action[]): string {
  if (exploited.all === 0) return '';
  const removing = actions.filter((action) => action.exploited);
  const whom = exploited.all === 1 ? 'it' : `all ${numberText(exploited.all)}`;
  if (removing.length === 1) return `Action ${removing[0]?.rank} of the fix list removes ${whom}.`;
  return `${countedText(removing.length, 'action')} of the fix list remove ${whom}.`;
}

function fixLead({ summary, actions, partial }: LeadFacts): string {
  if (actions.length === 0) return 'There is nothing to fix in what was found.';
  const remove = `${countedText(actions.length, 'action')} ${actions.length === 1 ? 'removes' : 'remove'} ${pluralText(summary.findings, 'finding')}${partial ? ' so far' : ''}.`;
  const order =
    'By severity; within one what is known exploited and at least likely, then certain before likely before possible.';
  return actions.length === 1 ? remove : `${remove} ${order}`;
}

function findingsLead({ summary, kinds, kindsLeft }: LeadFacts): string {
  if (summary.findings === 0) return 'No findings are recorded.';
  const all = kinds.length + kindsLeft.kinds;
  const lead = `${pluralText(all, 'kind')} on ${pluralText(summary.hostsWithFindings, 'host')}. Equal findings stand once, with every host that has them.`;
  if (kindsLeft.findings === 0) return lead;
  return `${lead} ${pluralText(kindsLeft.findings, 'finding')} of ${pluralText(kindsLeft.kinds, 'further kind')} stand in the JSON format only.`;
}

function hostsLead({ hosts, summary }: LeadFacts): string {
  if (hosts.all === 0) return 'No host is recorded.';
  const ports = pluralText(summary.openPorts, 'open port');
  return `${pluralText(hosts.all, 'host')} with ${ports}; ${numberText(hosts.withFindings)} of them ${hosts.withFindings === 1 ? 'has' : 'have'} findings.`;
}

function servicesLead({ services }: LeadFacts): string {
  if (services.openPorts === 0) return 'No open port is recorded.';
  const ports = pluralText(services.openPorts, 'open port');
  if (services.unrecognized === 0) return `${ports}, all recognized.`;
  return `${ports}; ${numberText(services.unrecognized)} of them ${services.unrecognized === 1 ? 'was' : 'were'} not recognized.`;
}

function certificatesLead({ certificates }: LeadFacts): string {
  const { read, expired, within14Days, within90Days } = certificates;
  if (read === 0) return 'No certificate was read.';
  return `${numberText(expired)} expired, ${numberText(within14Days)} within 14 days, ${numberText(within90Days)} within 90 days, of ${numberText(read)} read.`;
}

/** One or two sentences about what was, and was not, looked at. */
export function coverageText({ addresses, ports }: Pick<Coverage, 'addresses' | 'ports'>): string {
  return `${triedText(ports)} ${notLookedAtText(addresses, ports !== null)}`;
}

function triedText(ports: Coverage['ports']): string {
  if (ports === null) return 'How many ports were tried was not counted.';
  const { notTried, planned } = ports.all;
  if (planned === 0) return 'No port was planned.';
  if (planned === 1)
    return notTried === 0 ? 'The planned port was tried.' : 'The planned port was not tried.';
  if (notTried === 0) return `All ${numberText(planned)} planned ports were tried.`;
  return `${numberText(notTried)} of ${numberText(planned)} planned ports ${notTried === 1 ? 'was' : 'were'} not tried.`;
}

function notLookedAtText({ silent, excluded }: Coverage['addresses'], planned: boolean): string {
  const parts = [
    ...(silent > 0 ? [`${pluralText(silent, 'address', 'addresses')} that did not answer`] : []),
    ...(excluded > 0 ? [`${pluralText(excluded, 'excluded address', 'excluded addresses')}`] : []),
    ...(planned ? ['ports beyond the plan'] : []),
    'whatever a firewall hid from this place in the network',
  ];
  const last = parts.at(-1) as string;
  return `Not looked at: ${parts.length === 1 ? last : `${parts.slice(0, -1).join(', ')} and ${last}`}.`;
}

/** Kinds whose findings have no EPSS score although they are of known flaws. */
export function hasEpss(kinds: readonly FindingKind[]): boolean | null {
  const cves = kinds.filter(({ id }) => id.startsWith('CVE-'));
  return cves.length === 0 ? null : cves.some(({ epss }) => epss !== null);
}
