import { resolve } from 'node:path';
import { type AlertRule, evaluateCondition } from '../../alerts/alert-rules.ts';
import { type AlertValues, alertVariableNames, type ShownValues } from '../../alerts/alert-values.ts';
import { readAlertRules } from '../../alerts/read-rules.ts';
import { PortolanError } from '../../domain/errors.ts';
import { findServer, namedClient } from '../session/server-choice.ts';
import { printTable } from '../terminal/draw/print-table.ts';
import { printable, printableJson } from '../terminal/draw/printable.ts';
import type { GlobalFlags } from '../terminal/globals.ts';
import { note, print } from '../terminal/output.ts';
import { type AlertFlags, alertListShape } from './alert-list.ts';

/** A rule with the values of a server. */
interface TestedRule {
  name: string;
  condition: string;
  /** Null if a value is unknown, or if the condition cannot be evaluated. */
  holds: boolean | null;
  error: string | null;
  values: ShownValues;
  for_seconds: number;
  action: string;
  message: string;
}

/** `alert test` @throws PortolanError `configuration` for an invalid file */
export async function testAlerts(file: string, flags: AlertFlags, global: GlobalFlags): Promise<void> {
  const path = resolve(file);
  const { rules } = await readAlertRules([path], path);
  const values = await readValues(flags, global);
  const tested = rules.map((rule) => testRule(rule, values));
  const unknown = alertVariableNames.filter((name) => (values[name] ?? null) === null);
  if (flags.format === 'json') print(printableJson({ file: path, rules: tested, values, unknown }));
  else {
    note(`${printable(file)}: ${rules.length === 1 ? '1 rule' : `${rules.length} rules`}, no problems`);
    if (unknown.length > 0) note(`unknown values: ${unknown.join(', ')}`);
    if (rules.length > 0) printTested(tested, global);
  }
}

/** Without a server, or without its permission, no value is known. A named server must respond. */
async function readValues(flags: AlertFlags, global: GlobalFlags): Promise<ShownValues> {
  const named = await namedClient(flags, global);
  const client = named ?? (await findServer(flags, global));
  if (client === null) return {};
  try {
    return (await client.call('GET', '/api/v1/alerts', alertListShape)).values;
  } catch (error) {
    if (named || !(error instanceof PortolanError)) throw error;
    note(`warning: ${printable(error.message)}`);
    return {};
  }
}

function testRule(rule: AlertRule, shown: ShownValues): TestedRule {
  const { name, condition, forMs, action, message } = rule;
  const { holds, error } = evaluate(rule, shown);
  return {
    name,
    condition: condition.text,
    holds,
    error,
    values: Object.fromEntries(condition.variables.map((variable) => [variable, shown[variable] ?? null])),
    for_seconds: forMs / 1000,
    action,
    message,
  };
}

function evaluate({ condition }: AlertRule, shown: ShownValues): Pick<TestedRule, 'holds' | 'error'> {
  const names = Object.keys(shown);
  // A server reports values that are unknown now; comparisons with them are false.
  if (condition.variables.some((variable) => !names.includes(variable))) return { holds: null, error: null };
  const values = Object.fromEntries(alertVariableNames.map((name) => [name, shown[name] ?? Number.NaN]));
  const evaluation = evaluateCondition(condition, values as unknown as AlertValues);
  return { holds: null, error: null, ...evaluation };
}

function printTested(rules: readonly TestedRule[], flags: { color: boolean }): void {
  const valuesText = ({ values }: TestedRule) =>
    Object.entries(values)
      .map(([variable, value]) => `${variable}=${value ?? 'unknown'}`)
      .join(' ');
  printTable<TestedRule>(
    [
      { head: 'NAME', cell: ({ name }) => name },
      {
        head: 'FIRES',
        cell: ({ holds, error }) => error ?? (holds === null ? 'unknown' : holds ? 'yes' : 'no'),
      },
      { head: 'CONDITION', cell: ({ condition }) => condition, over: 'wrap' },
      { head: 'VALUES', cell: (rule) => valuesText(rule) || null, over: 'wrap' },
    ],
    rules,
    flags,
    [
      ['VALUES', 20],
      ['CONDITION', 20],
    ],
  );
}
