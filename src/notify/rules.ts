import type { Config } from '../config/schema.ts';
import { type Severity, severities } from '../domain/finding.ts';
import type { ScanReport } from './scan-report.ts';

type Settings = Pick<Config['notifications'], 'rules' | 'webhooks'>;
type Rule = Settings['rules'][number];

/** A kind of report that a channel may receive. */
export interface ReportForm {
  event: ScanReport['event'];
  /** Minimum severity of a message; null = send also without findings. */
  min_severity: Severity | null;
}

/** Channels that rules name for finished scans: they also get messages about scans that do not name them. */
export function channelsOfRules({ rules }: Pick<Settings, 'rules'>): string[] {
  const ofScans = rules.filter(
    ({ events }) => events.length === 0 || events.some((name) => name !== 'alert'),
  );
  return [...new Set(ofScans.flatMap(({ channels }) => channels))];
}

/** Whether the rules allow alerts on a channel. */
export function letsAlertsThrough(settings: Pick<Settings, 'rules'>, channel: string): boolean {
  const rules = rulesFor(settings, channel);
  return rules.length === 0 || rules.some((rule) => lists(rule, 'alert'));
}

/**
 * Reports that a channel may receive about a finished scan: at most one per event, the most detailed first. Empty if
 * no rule for the channel matches this event.
 */
export function reportForms(
  settings: Settings,
  channel: string,
  status: 'completed' | 'failed',
): ReportForm[] {
  const rules = rulesFor(settings, channel);
  if (status === 'failed') {
    const wanted = rules.length === 0 || rules.some((rule) => lists(rule, 'scan.failed'));
    return wanted ? [{ event: 'scan.failed', min_severity: null }] : [];
  }
  const forms =
    rules.length === 0 ? freeForms : [...formsOf(rules, isForWhole), ...formsOf(rules, isForChanges)];
  const subscribed = forms.filter(({ event }) => isSubscribed(settings, channel, event));
  // If none is left, the delivery reports that the webhook is not subscribed.
  return subscribed.length > 0 ? subscribed : forms.slice(0, 1);
}

/** Reports without a rule. The second one is for webhooks that only subscribe to changes. */
const freeForms: readonly ReportForm[] = [
  { event: 'scan.completed', min_severity: null },
  { event: 'scan.changed', min_severity: null },
];

type Completed = 'scan.completed' | 'scan.changed';

function formsOf(rules: readonly Rule[], event: (rule: Rule) => Completed | null): ReportForm[] {
  const fitting = rules.flatMap((rule) => {
    const name = event(rule);
    return name === null ? [] : [{ event: name, min_severity: rule.min_severity as Severity | null }];
  });
  const [first] = fitting;
  return first
    ? [{ event: first.event, min_severity: lowest(fitting.map((form) => form.min_severity)) }]
    : [];
}

function isForWhole(rule: Rule): Completed | null {
  return !rule.only_changes && lists(rule, 'scan.completed') ? 'scan.completed' : null;
}

function isForChanges(rule: Rule): Completed | null {
  if (rule.only_changes && lists(rule, 'scan.completed')) return 'scan.changed';
  return rule.events.includes('scan.changed') ? 'scan.changed' : null;
}

/** A rule without channels applies to all channels that no rule names. */
function rulesFor({ rules }: Pick<Settings, 'rules'>, channel: string): Rule[] {
  const own = rules.filter(({ channels }) => channels.includes(channel));
  return own.length > 0 ? own : rules.filter(({ channels }) => channels.length === 0);
}

function lists({ events }: Rule, event: string): boolean {
  return events.length === 0 || events.includes(event);
}

function isSubscribed({ webhooks }: Settings, channel: string, event: string): boolean {
  const webhook = webhooks.find(({ name }) => channel === `webhook://${name}`);
  return !webhook || webhook.events.length === 0 || webhook.events.includes(event);
}

function lowest(all: readonly (Severity | null)[]): Severity | null {
  if (all.includes(null)) return null;
  return severities.findLast((severity) => all.includes(severity)) ?? null;
}

/** Whether a severity is at least another one; any is at least null. */
export function isAtLeast(severity: Severity, least: Severity | null): boolean {
  return least === null || severities.indexOf(severity) <= severities.indexOf(least);
}
