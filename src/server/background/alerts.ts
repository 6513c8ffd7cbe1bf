import { type AlertOutcome, evaluateAlerts } from '../../actions/alerts/evaluate-alerts.ts';
import { type ListedAlert, listAlerts } from '../../actions/alerts/list-alerts.ts';
import { type AlertValueSource, readAlertValues } from '../../actions/alerts/read-alert-values.ts';
import type { AlertRules } from '../../alerts/alert-rules.ts';
import {
  type AlertValues,
  alertVariableNames,
  type ShownValues,
  shownValues,
} from '../../alerts/alert-values.ts';
import { readAlertRules } from '../../alerts/read-rules.ts';
import type { Config } from '../../config/schema.ts';
import { parseChannel } from '../../domain/channel.ts';
import { mailRecipients } from '../../notify/mail-recipients.ts';
import { letsAlertsThrough } from '../../notify/rules.ts';
import { slackMissing } from '../../notify/slack.ts';
import { webhookNamed } from '../../notify/webhook.ts';
import type { Store } from '../../store/open.ts';
import type { Component } from '../components.ts';
import type { ServerLog } from '../logging/log.ts';
import { PeriodicTasks } from './periodic-tasks.ts';

export interface AlertEvaluatorInput extends Omit<AlertValueSource, 'config' | 'freeBytes'> {
  config: Pick<Config, 'alerts' | 'notifications' | 'vulndb' | 'workspace'>;
  workspace: { freeBytes(): Promise<number> };
  /** What servers on one database share; null with a single server. */
  shards: {
    line: { now(): Promise<number> };
    presence: { leastFreeBytes(): Promise<number | null> };
  } | null;
  log: ServerLog;
  /** Called when a notification is pending. */
  onNotice: () => void;
}

const leaseName = 'alerts';
/** A server loses the lease after this many intervals without an evaluation, and at least `minLeaseMs`. */
const leaseIntervals = 2;
const minLeaseMs = 10_000;
/** Maximum time, in intervals, that a condition counts as true between two evaluations. */
const maxElapsedIntervals = 2;

/**
 * Evaluates the alert rules every `alerts.interval`. Among servers on one database, the holder of the lease does;
 * states are stored, so a restart or another server continues from the last evaluation.
 */
export class AlertEvaluator implements Component {
  readonly #input: AlertEvaluatorInput;
  #rules: AlertRules;
  #tasks: PeriodicTasks | null = null;
  /** The tasks before those, at another interval. */
  #ended: Promise<void> = Promise.resolve();
  /** Monotonic milliseconds of the last stored round; null while another server evaluates. */
  #evaluatedAt: number | null = null;
  /** Rules that cannot be evaluated. */
  #failing: readonly string[] = [];
  #isRejected = false;
  #isClosed = false;
  #storeFault = false;

  constructor(input: AlertEvaluatorInput, rules: AlertRules) {
    this.#input = input;
    this.#rules = rules;
  }

  readonly reload = {
    alerts: async (next: Config, changed: ReadonlySet<string>, files: readonly string[]) => {
      const rules = await this.#readAgain(files, next.alerts.file);
      return () => this.#follow(rules, changed.has('alerts.interval'));
    },
  };

  start(): void {
    this.#report();
    this.#begin();
  }

  /** Aborts a running round and releases the lease. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([this.#tasks?.close(), this.#ended]);
    const { store, shards } = this.#input;
    if (shards && this.#evaluatedAt !== null)
      await store.leases.release(leaseName, store.executor).catch(() => undefined);
  }

  /** What is wrong, for operators; null if nothing. Names no file: only the log does. */
  get fault(): string | null {
    const failing = this.#failing.length === 0 ? null : `cannot be evaluated: ${this.#failing.join(', ')}`;
    const rejected = this.#isRejected
      ? 'the alert rules were rejected at the last reload and the old ones hold; see the log'
      : null;
    const stopped = this.#storeFault ? 'alerts cannot be evaluated now; see the log' : null;
    return [rejected, stopped, failing].filter((text) => text !== null).join('; ') || null;
  }

  async list(): Promise<ListedAlert[]> {
    return await listAlerts(this.#rules, this.#input.store);
  }

  /** Current values of the variables. */
  async values(): Promise<ShownValues> {
    return shownValues(await this.#readValues(await this.#now()), alertVariableNames);
  }

  #begin(): void {
    if (this.#isClosed) return;
    const { interval } = this.#input.config.alerts;
    this.#tasks = new PeriodicTasks((signal) => this.evaluate(signal), {
      firstMs: interval,
      betweenMs: interval,
    });
    this.#tasks.start();
  }

  async #readAgain(files: readonly string[], named: string): Promise<AlertRules> {
    try {
      return await readAlertRules(files, named);
    } catch (error) {
      this.#isRejected = true;
      throw error;
    }
  }

  /** @returns the setting, if its file has changed rules */
  #follow(rules: AlertRules, isOtherInterval: boolean): string | undefined {
    const isSame = JSON.stringify(rules) === JSON.stringify(this.#rules);
    this.#isRejected = false;
    this.#rules = rules;
    this.#failing = this.#failing.filter((name) => rules.rules.some((rule) => rule.name === name));
    this.#report();
    if (isOtherInterval) this.#beginAnew();
    return isSame ? undefined : 'alerts.file';
  }

  #beginAnew(): void {
    if (this.#tasks === null) return;
    this.#ended = this.#tasks.close();
    this.#tasks = null;
    void this.#ended.then(() => this.#begin());
  }

  #report(): void {
    const { log, config } = this.#input;
    const { file, rules } = this.#rules;
    if (file === null) return;
    log.info({ file, rules: rules.length }, 'alert rules in force');
    for (const channel of new Set(rules.flatMap(({ channels }) => channels))) {
      const missing = missingFor(channel, config.notifications);
      if (missing !== null) log.warn({ channel, missing }, 'alerts have a channel that gets no messages');
    }
  }

  /** One round. Never rejects. */
  async evaluate(signal?: AbortSignal): Promise<void> {
    try {
      await this.#evaluate(signal);
      this.#storeFault = false;
    } catch (err) {
      if (!this.#storeFault) this.#input.log.error({ err }, 'cannot evaluate alerts, retrying');
      this.#storeFault = true;
    }
  }

  async #evaluate(signal?: AbortSignal): Promise<void> {
    const { rules } = this.#rules;
    const { store } = this.#input;
    if (rules.length === 0 && (await store.alertStates.all()).length === 0) return;
    const now = await this.#now();
    if (!(await this.#claim(store, now))) return await this.#followHolder();
    const values = await this.#readValues(now);
    if (signal?.aborted) return;
    const at = performance.now();
    const outcomes = await evaluateAlerts(store, {
      rules,
      values,
      elapsedMs: this.#elapsed(at),
      now,
      isHolder: (tx) => this.#claim(tx, now),
    });
    if (outcomes === null) return await this.#followHolder();
    this.#evaluatedAt = at;
    for (const outcome of outcomes) this.#logOutcome(outcome);
    this.#failing = outcomes.flatMap(({ rule, state }) => (state.error === null ? [] : [rule.name]));
    if (outcomes.some(({ notice }) => notice)) this.#input.onNotice();
  }

  #elapsed(at: number): number {
    const most = this.#input.config.alerts.interval * maxElapsedIntervals;
    return this.#evaluatedAt === null ? 0 : Math.min(at - this.#evaluatedAt, most);
  }

  /** Servers that share a database use its clock. */
  async #now(): Promise<number> {
    return (await this.#input.shards?.line.now()) ?? Date.now();
  }

  /**
   * A single server needs no lease. A server that takes over the lease also takes over the pending notifications of
   * the previous holder.
   */
  async #claim(store: Store, now: number): Promise<boolean> {
    const { shards, config } = this.#input;
    if (!shards) return true;
    const leaseMs = Math.max(minLeaseMs, config.alerts.interval * leaseIntervals);
    const before = this.#evaluatedAt === null ? await store.leases.holder(leaseName) : null;
    if (!(await store.leases.claim(leaseName, store.executor, now, leaseMs))) return false;
    if (before !== null && before !== store.executor)
      await store.outbox.handOverNotices(before, store.executor);
    return true;
  }

  /** Another server evaluates; health shows its results here too. */
  async #followHolder(): Promise<void> {
    this.#evaluatedAt = null;
    const states = await this.list();
    this.#failing = states.flatMap(({ name, error }) => (error === null ? [] : [name]));
  }

  async #readValues(now: number): Promise<AlertValues> {
    const { shards, workspace } = this.#input;
    const freeBytes = async () => {
      const [own, others] = await Promise.all([workspace.freeBytes(), shards?.presence.leastFreeBytes()]);
      return Math.min(own, others ?? own);
    };
    return await readAlertValues({ ...this.#input, freeBytes }, now);
  }

  #logOutcome({ rule: { name }, state, notice, beganToFail }: AlertOutcome): void {
    const { log } = this.#input;
    if (beganToFail) log.error({ alert: name, reason: state.error }, 'alert cannot be evaluated');
    if (notice)
      log.warn({ alert: name, values: notice.values, fired_at: notice.fired_at }, `alert ${notice.state}`);
  }
}

/** Why a channel of an alert cannot be used; null if it can. */
function missingFor(channel: string, settings: Config['notifications']): string | null {
  const { type, name = '' } = parseChannel(channel) ?? {};
  if (!letsAlertsThrough(settings, channel))
    return 'no entry of notifications.rules sends alerts to this channel';
  if (type === 'slack') return slackMissing(settings.slack);
  const found =
    type === 'email' ? mailRecipients(settings.email, name) : webhookNamed(settings.webhooks, name, 'alert');
  return 'missing' in found ? found.missing : null;
}
