/**
 * How long alert rules take to evaluate: rounds of 100 rules with values that change each time, as `alerts.interval` makes
 * them, without the store. Bar: 10,000 rounds in a second.
 *
 *   npm run bench:alerts
 */

import { evaluateCondition } from '../src/alerts/alert-rules.ts';
import { type AlertState, stepAlert } from '../src/alerts/alert-state.ts';
import { type AlertValues, alertVariableNames } from '../src/alerts/alert-values.ts';
import { loadAlertRules } from '../src/alerts/rules-file.ts';

const rounds = 10_000;
const ruleCount = 100;
const runs = 5;
const intervalMs = 30_000;

const conditions = [
  'error_rate > 0.1',
  'queue_length > 100 && oldest_queued_seconds > 60',
  'free_space_mb < 10000 or vulndb_age_days > 7',
  'worker_utilization > 0.95 && workers_alive >= 1',
  'not (workers_alive > 0) || queue_length / workers_alive > 50',
];
const text = Array.from({ length: ruleCount }, (_, index) => {
  const condition = JSON.stringify(conditions[index % conditions.length]);
  return `- {name: rule-${index}, condition: ${condition}, action: slack, for: ${index % 10}m}\n`;
}).join('');

const loading = performance.now();
const { rules, issues } = loadAlertRules(text.replaceAll('for: 0m', 'for: 1m'));
const loadedMs = performance.now() - loading;
if (issues.length > 0) throw new Error(JSON.stringify(issues));

function valuesOf(round: number): AlertValues {
  const entries = alertVariableNames.map((name, index) => [name, ((round * (index + 7)) % 211) - 5]);
  return Object.fromEntries(entries) as AlertValues;
}

function run(): { seconds: number; notices: number } {
  const states = new Map<string, AlertState>();
  let notices = 0;
  const began = performance.now();
  for (let round = 0; round < rounds; round++) {
    const values = valuesOf(round);
    const clock = { elapsedMs: intervalMs, now: '2026-11-23T12:00:00.000Z' };
    for (const { name, condition, forMs } of rules) {
      const evaluation = evaluateCondition(condition, values);
      const { next, notice } = stepAlert(states.get(name) ?? null, evaluation, forMs, clock);
      states.set(name, next);
      if (notice) notices++;
    }
  }
  return { seconds: (performance.now() - began) / 1000, notices };
}

const results = Array.from({ length: runs }, run);
const seconds = results.map((result) => result.seconds).sort((a, b) => a - b);
const shown = seconds.map((one) => one.toFixed(2)).join(', ');
process.stdout.write(`${ruleCount} rules checked in ${loadedMs.toFixed(0)} ms\n`);
process.stdout.write(`${rounds} rounds of ${ruleCount} rules: ${shown} s; ${results[0]?.notices} notices\n`);
process.exitCode = (seconds[Math.floor(runs / 2)] as number) <= 1 ? 0 : 1;
