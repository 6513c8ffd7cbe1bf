import { severities } from '../../../domain/finding.ts';
import { classesText } from '../findings/class-counts.ts';
import type { HeadlineNumber, Report } from '../report.ts';
import { changeText, dateText, numberText, percentText, pluralText, unknownText } from '../report-text.ts';

/** What the headline is made of. */
export type HeadlineFacts = Pick<Report, 'summary' | 'services' | 'options'> & {
  evaluated: boolean;
  /** The scan did not reach its end: numbers are those so far. */
  partial: boolean;
  coverage: Pick<Report['coverage'], 'addresses' | 'ports'>;
};

/** How bad, what first, what changed; without findings, what could not be judged. */
export function headlineOf(facts: HeadlineFacts): HeadlineNumber[] {
  return facts.summary.findings > 0
    ? [exploitedNumber(facts), severeNumber(facts), thirdNumber(facts)]
    : [noneNumber(facts), notJudgedNumber(facts), notTriedNumber(facts) ?? notRecognizedNumber(facts)];
}

function soFar({ partial }: HeadlineFacts): string {
  return partial ? ', so far' : '';
}

function exploitedNumber(facts: HeadlineFacts): HeadlineNumber {
  const { exploited } = facts.summary;
  return {
    number: numberText(exploited.all),
    label: `known exploited${soFar(facts)}`,
    note: exploited.all === 0 ? 'none of the findings' : classesText(exploited),
    marks: exploited.all === 0 ? null : 'exploited',
  };
}

function severeNumber(facts: HeadlineFacts): HeadlineNumber {
  const { criticalOrHigh, findings, severities: counts } = facts.summary;
  return {
    number: numberText(criticalOrHigh.all),
    label: `critical or high${soFar(facts)}, of ${pluralText(findings, 'finding')}`,
    note: severities
      .filter((severity) => counts[severity] > 0)
      .map((severity) => `${numberText(counts[severity])} ${severity}`)
      .join(', '),
    marks: 'severities',
  };
}

/** What changed; without an earlier scan what was not tried, if that matters, else the hosts. */
function thirdNumber(facts: HeadlineFacts): HeadlineNumber {
  return changeNumber(facts) ?? notTriedNumber(facts) ?? hostsNumber(facts);
}

function changeNumber({ options: { changes } }: HeadlineFacts): HeadlineNumber | null {
  if (changes === null) return null;
  const balance = Object.values(changes.balance).reduce((sum, count) => sum + count, 0);
  const unseen = changes.unseen > 0 ? `, ${numberText(changes.unseen)} not visible before` : '';
  return {
    number: changeText(balance),
    label: `findings since ${dateText(changes.at).split(',', 1)[0]}`,
    note: `${numberText(changes.new)} new, ${numberText(changes.fixed)} fixed, ${numberText(changes.unchanged)} unchanged${unseen}`,
    marks: null,
  };
}

function notTriedNumber({ partial, coverage }: HeadlineFacts): HeadlineNumber | null {
  const ports = coverage.ports?.all;
  if (!partial || ports === undefined || ports.notTried === 0) return null;
  return {
    number: numberText(ports.notTried),
    label: ports.notTried === 1 ? 'port not tried' : 'ports not tried',
    note: `of ${numberText(ports.planned)}: ${percentText(ports.notTried, ports.planned)}`,
    marks: null,
  };
}

function hostsNumber(facts: HeadlineFacts): HeadlineNumber {
  const { hosts, hostsWithFindings } = facts.summary;
  return {
    number: numberText(hostsWithFindings),
    label: `${hostsWithFindings === 1 ? 'host' : 'hosts'} with findings${soFar(facts)}`,
    note: `of ${numberText(hosts)} that answered`,
    marks: null,
  };
}

function noneNumber(facts: HeadlineFacts): HeadlineNumber {
  const { hosts, openPorts } = facts.summary;
  return {
    number: facts.evaluated ? '0' : unknownText,
    label: `findings on ${pluralText(hosts, 'host')}${soFar(facts)}`,
    note: facts.evaluated ? pluralText(openPorts, 'open port') : 'not asked for',
    marks: null,
  };
}

function notJudgedNumber({ coverage: { addresses } }: HeadlineFacts): HeadlineNumber {
  const { silent, excluded } = addresses;
  return {
    number: numberText(silent + excluded),
    label: `${silent + excluded === 1 ? 'address' : 'addresses'} not judged`,
    note: `${numberText(silent)} did not answer, ${numberText(excluded)} excluded`,
    marks: null,
  };
}

function notRecognizedNumber({ services: { unrecognized, openPorts } }: HeadlineFacts): HeadlineNumber {
  return {
    number: numberText(unrecognized),
    label: `${unrecognized === 1 ? 'open port' : 'open ports'} not recognized`,
    note: `of ${numberText(openPorts)}; nothing is said about them`,
    marks: null,
  };
}
