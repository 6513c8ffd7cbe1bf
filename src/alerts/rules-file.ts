import {
  isAlias,
  isMap,
  isNode,
  isPair,
  isScalar,
  isSeq,
  type Scalar,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml';
import { nearest } from '../domain/text/nearest.ts';
import { formatDuration, parseDuration } from '../domain/time/duration.ts';
import { type Position, SafeYaml } from '../engine/graph/safe-yaml.ts';
import { type AlertCondition, type AlertRule, maxRulesBytes } from './alert-rules.ts';
import { parseCondition } from './condition.ts';

/** Alert rules of one file. */
const maxRules = 500;
/** Longest message of an alert, characters. */
const maxMessageLength = 1000;
/** Longest `for` of an alert, milliseconds. */
const maxForMs = 7 * 86_400_000;

interface RuleIssue extends Position {
  message: string;
}

const needs = 'a list of rules, or one under "alerts"';
const keys = ['name', 'condition', 'action', 'message', 'for'] as const;
type Key = (typeof keys)[number];
const required: readonly Key[] = ['name', 'condition', 'action'];
const nameForm = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,62}$/;
const actionForms = 'slack, email and webhook:NAME, comma-separated';

/** Checks alert rules; reports every problem with its position. */
export function loadAlertRules(text: string): { rules: AlertRule[]; issues: RuleIssue[] } {
  return new RulesReader(text).read();
}

class RulesReader {
  readonly #text: string;
  readonly #file: SafeYaml;
  readonly #issues: RuleIssue[] = [];
  readonly #names = new Set<string>();

  constructor(text: string) {
    this.#text = text;
    this.#file = new SafeYaml(text, maxRulesBytes, needs, { lists: true });
  }

  read(): { rules: AlertRule[]; issues: RuleIssue[] } {
    const { problems } = this.#file;
    for (const { message, line, column } of problems) this.#issues.push({ message, line, column });
    const list = problems.length > 0 ? null : this.#list();
    if (list && list.items.length > maxRules)
      this.#issue(`more than ${maxRules} rules`, list.items[maxRules]);
    const rules = (list?.items ?? []).slice(0, maxRules).flatMap((item) => this.#readRule(item) ?? []);
    return { rules: this.#issues.length > 0 ? [] : rules, issues: this.#issues };
  }

  #list(): YAMLSeq | null {
    const { list, root } = this.#file;
    if (list) return list;
    for (const { key } of (root?.items ?? []).filter(isPair)) {
      if (textOf(key) !== 'alerts')
        this.#issue(`unknown key ${quote(textOf(key))}; the file needs ${needs}`, key);
    }
    const alerts = root?.get('alerts', true);
    if (isSeq(alerts)) return alerts;
    if (this.#issues.length === 0) this.#issue(`alerts must be a list of rules`, alerts ?? root);
    return null;
  }

  #readRule(item: unknown): AlertRule | null {
    if (!isMap(item)) return this.#issue(`a rule must be a map with ${required.join(', ')}`, item);
    const before = this.#issues.length;
    const given = this.#values(item);
    for (const key of required) if (!given.has(key)) this.#issue(`a rule needs ${quote(key)}`, item);
    if (this.#issues.length > before) return null;
    const rule = {
      name: this.#name(given),
      condition: this.#condition(given),
      forMs: this.#for(given),
      action: valueOf(given, 'action'),
      channels: this.#channels(given),
      message: this.#message(given),
      line: this.#file.placeOf(item).line,
    };
    return this.#issues.length > before ? null : (rule as AlertRule);
  }

  /** The known keys of a rule with a text each. */
  #values(item: YAMLMap): Map<Key, Scalar<string>> {
    const found = new Map<Key, Scalar<string>>();
    for (const { key, value } of item.items.filter(isPair)) {
      const name = textOf(key);
      const known = keys.find((one) => one === name);
      if (known === undefined) this.#issue(unknownKey(name), key);
      else if (isAlias(value)) this.#issue('aliases are not supported; write out the value', value);
      else if (isScalar(value) && typeof value.value === 'string') found.set(known, value as Scalar<string>);
      else this.#issue(`${name} must be text`, isNode(value) && value.range ? value : key);
    }
    return found;
  }

  #name(given: Map<Key, Scalar<string>>): string {
    const name = valueOf(given, 'name');
    const place = given.get('name');
    if (!nameForm.test(name))
      this.#issue(
        'name must be 1 to 63 letters, digits, dots, dashes and underscores, a letter or digit first',
        place,
      );
    else if (this.#names.has(name)) this.#issue(`another rule has the name ${name}`, place);
    this.#names.add(name);
    return name;
  }

  #condition(given: Map<Key, Scalar<string>>): AlertCondition | null {
    const node = given.get('condition') as Scalar<string>;
    const condition = parseCondition(node.value);
    if (!('problem' in condition)) return condition;
    const { problem, offset } = condition;
    this.#issues.push({ message: `condition: ${problem}`, ...this.#placeIn(node, offset) });
    return null;
  }

  #for(given: Map<Key, Scalar<string>>): number {
    const node = given.get('for');
    if (node === undefined) return 0;
    const ms = parseDuration(node.value);
    if (ms !== null && ms <= maxForMs) return ms;
    this.#issue(`for must be a duration up to ${formatDuration(maxForMs)}, such as 5m`, node);
    return 0;
  }

  #channels(given: Map<Key, Scalar<string>>): string[] {
    const actions = valueOf(given, 'action')
      .split(',')
      .map((action) => action.trim());
    const channels = actions.flatMap((action) => {
      const [, webhook] = /^webhook:(.*)$/.exec(action) ?? [];
      if (webhook !== undefined && nameForm.test(webhook)) return [`webhook://${webhook}`];
      if (action === 'slack' || action === 'email') return [`${action}://default`];
      this.#issue(`unknown action ${quote(action)}; ${actionHint(action)}`, given.get('action'));
      return [];
    });
    return [...new Set(channels)];
  }

  #message(given: Map<Key, Scalar<string>>): string {
    const message = valueOf(given, 'message') || valueOf(given, 'condition');
    if (message.length > maxMessageLength)
      this.#issue(`message is longer than ${maxMessageLength} characters`, given.get('message'));
    return message;
  }

  /** Where the character at an offset of a text stands in the file, whichever way the text is quoted or folded. */
  #placeIn(node: Scalar<string>, offset: number): Position {
    const [start, end] = node.range ?? [0, 0];
    let at = node.type?.startsWith('QUOTE') ? start + 1 : start;
    for (const character of node.value.slice(0, offset)) at = this.#after(character, at, end);
    const next = node.value[offset];
    const found = next === undefined ? at : this.#after(next, at, end) - 1;
    return this.#file.placeAt(Math.min(Math.max(found, start), end));
  }

  /** Position after the next occurrence of a character; white space of the value may be written in any length. */
  #after(character: string, from: number, end: number): number {
    const found = this.#text.indexOf(/\s/.test(character) ? (this.#text[from] ?? '') : character, from);
    return found === -1 || found >= end ? from : found + 1;
  }

  #issue(message: string, node: unknown): null {
    this.#issues.push({ message, ...this.#file.placeOf(node) });
    return null;
  }
}

function valueOf(given: Map<Key, Scalar<string>>, key: Key): string {
  return given.get(key)?.value ?? '';
}

function textOf(node: unknown): string {
  return String(isNode(node) ? node.toJSON() : node);
}

function unknownKey(name: string): string {
  const guess = nearest(name, keys);
  return `unknown key ${quote(name)}; ${guess ? `did you mean ${guess}?` : `known: ${keys.join(', ')}`}`;
}

function actionHint(action: string): string {
  if (action.startsWith('webhook')) return 'a webhook is written webhook:NAME';
  const guess = nearest(action, ['slack', 'email']);
  return guess ? `did you mean ${guess}?` : `known: ${actionForms}`;
}

function quote(text: string): string {
  return JSON.stringify(text.length > 80 ? `${text.slice(0, 77)}...` : text);
}
