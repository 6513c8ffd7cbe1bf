import { type Severity, severities } from '../../../domain/finding.ts';
import type { Action, Coverage, ReportSummary, ServiceTotals } from '../report.ts';
import { countedText, numberText, pluralText } from '../report-text.ts';
import { partialSentence, type ScanState } from './scan-state.ts';

/** What the verdict is made of. */
export interface VerdictFacts {
  evaluated: boolean;
  state: ScanState;
  summary: ReportSummary;
  /** Hosts with exploited findings, by the most certain of them, are in the summary. */
  actions: readonly Action[];
  coverage: Pick<Coverage, 'addresses' | 'ports'>;
  services: Pick<ServiceTotals, 'unrecognized'>;
}

/**
 * At most two sentences: how bad, and what first. A scan that did not reach its end says so instead of what to do
 * first. Never claims that something is safe: it only counts what was found, and what was not looked at.
 */
export function verdictOf(facts: VerdictFacts): string {
  const [bad, first] = sentencesOf(facts);
  const ports = facts.coverage.ports?.all ?? null;
  const second = facts.state.clause === null ? first : partialSentence(facts.state, ports);
  return second === '' ? bad : `${bad} ${second}`;
}

type Sentences = readonly [string, string];

function sentencesOf(facts: VerdictFacts): Sentences {
  const { summary, evaluated } = facts;
  if (summary.findings === 0) {
    if (summary.hosts === 0) return nobodySentences(facts);
    return evaluated ? noneSentences(facts) : ['Findings were not asked for: ports and services only.', ''];
  }
  if (summary.exploited.certain + summary.exploited.likely > 0) return exploitedSentences(facts);
  return summary.criticalOrHigh.all > 0 ? urgentSentences(facts) : mildSentences(facts);
}

function nobodySentences({ coverage: { addresses }, state }: VerdictFacts): Sentences {
  const tried = addresses.requested - addresses.excluded;
  if (tried === 0 || state.word === 'Pending') return ['No address was tried.', nothingSaid];
  return [`No address of ${numberText(tried)} answered.`, nothingSaid];
}

const nothingSaid = 'This says nothing about what is there.';

function noneSentences({ summary, coverage: { addresses }, services }: VerdictFacts): Sentences {
  const unseen = addresses.silent + addresses.excluded;
  const parts = [
    ...(unseen > 0 ? [pluralText(unseen, 'address', 'addresses')] : []),
    ...(services.unrecognized > 0 ? [pluralText(services.unrecognized, 'open port')] : []),
  ];
  const hosts = summary.hosts === 1 ? 'the 1 host' : `the ${numberText(summary.hosts)} hosts`;
  const rest = parts.length === 0 ? '' : `${parts.join(' and ')} could not be judged.`;
  return [`No findings on ${hosts} that answered.`, rest];
}

function exploitedSentences({ summary, actions }: VerdictFacts): Sentences {
  const { certain, all } = summary.exploitedHosts;
  const removing = actions.filter((action) => action.exploited);
  const updates = removing.every(({ update }) => update);
  const flaw = updates ? 'a known exploited version' : 'a known exploited flaw';
  const one = updates ? 'runs' : 'has';
  const many = updates ? 'run' : 'have';
  const noun = updates ? 'update' : 'action';
  const amount = amountText(summary.exploited.all, all);
  if (certain === 0) {
    const settles = `${countedText(removing.length, noun)} ${removing.length === 1 ? 'settles' : 'settle'} ${amount}.`;
    return [`Check first: ${pluralText(all, 'host')} may ${many} ${flaw}.`, settles];
  }
  const more = all - certain;
  const certainly = `${pluralText(certain, 'host')} certainly ${certain === 1 ? one : many} ${flaw}`;
  const also = more === 0 ? '' : `, and ${numberText(more)} more may`;
  const removes = `${countedText(removing.length, noun)} ${removing.length === 1 ? 'removes' : 'remove'} ${amount}.`;
  return [`Act now: ${certainly}${also}.`, removes];
}

/** `it`, `all 10`, or the number of findings if hosts have several. */
function amountText(findings: number, hosts: number): string {
  if (findings === 1) return 'it';
  if (findings === hosts) return findings === 2 ? 'both' : `all ${numberText(findings)}`;
  return `all ${numberText(findings)} such findings`;
}

function urgentSentences({ summary: { criticalOrHigh }, actions }: VerdictFacts): Sentences {
  const { all, certain } = criticalOrHigh;
  const [first] = actions;
  const start = first ? `Start with “${first.text}”.` : '';
  if (all === 1)
    return [`1 finding is critical or high, and it is ${certain === 1 ? '' : 'not '}certain.`, start];
  return [`${numberText(all)} findings are critical or high, ${certainText(certain, all)}.`, start];
}

function mildSentences({ summary }: VerdictFacts): Sentences {
  const worst = summary.lines.find((line) => line.all > 0);
  const { severity, all, certain } = worst ?? { severity: 'info' as Severity, all: 0, certain: 0 };
  const above = aboveText(severity);
  const word = severity === 'info' ? 'informational' : severity;
  if (all === 1) return [above, `1 finding is ${word}, and it is ${certain === 1 ? '' : 'not '}certain.`];
  return [above, `${numberText(all)} findings are ${word}, ${certainText(certain, all)}.`];
}

function certainText(certain: number, all: number): string {
  if (certain === 0) return 'none of them certain';
  return certain === all ? 'all of them certain' : `${numberText(certain)} of them certain`;
}

/** `Nothing critical or high was found.` */
function aboveText(severity: Severity): string {
  const above = severities.slice(0, severities.indexOf(severity));
  const last = above.at(-1);
  const text = above.length > 1 ? `${above.slice(0, -1).join(', ')} or ${last}` : last;
  return `Nothing ${text} was found.`;
}
