import { isMap, isNode, isPair, isScalar, isSeq, type YAMLMap } from 'yaml';
import { maxActionLength, type Severity, severities } from '../../domain/finding.ts';
import { nearest } from '../../domain/text/nearest.ts';
import {
  type EvaluationRule,
  type RuleCondition,
  type RuleGroup,
  type RuleLogic,
  type RulePart,
  type RuleType,
  ruleLogics,
  ruleTypes,
} from '../../knowledge/evaluation-rules/rule.ts';
import { conditionProblem } from './condition-form.ts';

/** Takes a problem: the field as a path such as `match.rules[0].value`, and the node where it lies. */
export type OnIssue = (field: string, reason: string, node: unknown) => void;

/** Maximum length of message and remedy, characters. */
const maxText = 4000;
/** Maximum length of every other text, characters. */
const maxName = 200;
/** Maximum number of entries of a list. */
const maxList = 50;
/** Maximum number of conditions and groups of one rule. */
const maxConditions = 200;
/** Maximum nesting of groups. */
const maxGroupDepth = 8;

const idForm = /^[a-z][a-z0-9-]{2,62}$/;
const versionForm = /^\d{1,6}\.\d{1,6}\.\d{1,6}(?:[-+][0-9A-Za-z.-]{1,32})?$/;
const tagForm = /^[a-z0-9][a-z0-9_-]{0,39}$/;
const cveForm = /^CVE-\d{4}-\d{4,7}$/;
/** One line without control characters. */
const lineForm = /^[^\p{Cc}\p{Zl}\p{Zp}]+$/u;
const urlForm = /^https?:\/\/[^\s"'<>\\]{1,500}$/;

const ruleKeys = ['id', 'name', 'version', 'type', 'author', 'metadata', 'triggers', 'match', 'output'];
const metadataKeys = ['severity', 'cve', 'tags', 'references'];
const outputKeys = ['vulnerability', 'severity', 'message', 'action', 'remediation', 'reference', 'metadata'];
const conditionKeys = ['field', 'operator', 'value'];
const triggerKeys = ['data_key', 'condition', 'value'];
const groupKeys = ['logic', 'rules'];

/** The nodes of a map by key. */
type Members = ReadonlyMap<string, unknown>;

/** Checks one rule document. */
export class RuleForm {
  readonly #root: YAMLMap;
  readonly #onIssue: OnIssue;
  #issues = 0;
  #conditions = 0;

  constructor(root: YAMLMap, onIssue: OnIssue) {
    this.#root = root;
    this.#onIssue = onIssue;
  }

  /** Null if there are problems. */
  read(): EvaluationRule | null {
    const members = this.#members(this.#root, ruleKeys, '');
    const metadata = this.#map(members, 'metadata', metadataKeys);
    const output = this.#map(members, 'output', outputKeys);
    if (output === null) this.#missing('output');
    const rule = {
      id: this.#text(
        members,
        'id',
        idForm,
        'a lower-case letter, then letters, digits and dashes, 3 to 63 in all',
      ),
      name: this.#text(members, 'name', null, ''),
      version: this.#text(members, 'version', versionForm, 'a version such as 1.0.0'),
      type: this.#word<RuleType>(members, 'type', ruleTypes),
      author: members.has('author') ? this.#text(members, 'author', null, '') : null,
      severity: this.#severity(metadata, output),
      cve: this.#list(metadata, 'metadata.cve', cveForm, 'a CVE id'),
      tags: this.#list(
        metadata,
        'metadata.tags',
        tagForm,
        'a tag: lower-case letters, digits, dashes, underscores',
      ),
      references: this.#list(metadata, 'metadata.references', urlForm, 'an http or https URL'),
      triggers: this.#triggers(members.get('triggers')),
      match: this.#match(members.get('match')),
      reports: this.#flag(output, 'output.vulnerability'),
      message: this.#text(output, 'output.message', null, ''),
      action: this.#optionalText(output, 'output.action', lineForm, 'one line of text'),
      remediation: this.#optionalText(output, 'output.remediation'),
    };
    const reference = this.#optionalText(output, 'output.reference');
    if (reference !== '' && !urlForm.test(reference))
      this.#issue('output.reference', 'must be an http or https URL', output?.get('reference'));
    if (this.#issues > 0) return null;
    const urls = [
      ...rule.references,
      reference,
      ...rule.cve.map((id) => `https://nvd.nist.gov/vuln/detail/${id}`),
    ];
    return { ...(rule as EvaluationRule), references: [...new Set(urls)].filter((url) => url !== '') };
  }

  #triggers(node: unknown): RuleCondition[] {
    if (node === undefined) return [];
    if (!isSeq(node) || node.items.length > maxList) {
      this.#issue('triggers', `must be a list of at most ${maxList} conditions`, node);
      return [];
    }
    return node.items.flatMap((item, index) => {
      const path = `triggers[${index}]`;
      if (!isMap(item)) {
        this.#issue(path, `must be a map with ${triggerKeys.join(', ')}`, item);
        return [];
      }
      const members = this.#members(item, triggerKeys, path);
      return this.#condition(members, item, path, 'data_key', 'condition') ?? [];
    });
  }

  #match(node: unknown): RuleGroup | null {
    if (isMap(node)) return this.#group(node, 'match', 1);
    if (node === undefined) this.#missing('match');
    else this.#issue('match', `must be a map with ${groupKeys.join(' and ')}`, node);
    return null;
  }

  #group(map: YAMLMap, path: string, depth: number): RuleGroup | null {
    if (depth > maxGroupDepth) {
      this.#issue(path, `groups are nested more than ${maxGroupDepth} deep`, map);
      return null;
    }
    const members = this.#members(map, groupKeys, path);
    const logic = this.#word<RuleLogic>(members, `${path}.logic`, ruleLogics, map);
    const list = members.get('rules');
    if (!isSeq(list) || list.items.length === 0) {
      this.#issue(`${path}.rules`, 'must be a list of at least one condition or group', list ?? map);
      return null;
    }
    const rules = list.items.flatMap((item, index): RulePart[] => {
      const part = this.#part(item, `${path}.rules[${index}]`, depth);
      return part === null ? [] : [part];
    });
    return { logic, rules };
  }

  #part(item: unknown, path: string, depth: number): RulePart | null {
    if (++this.#conditions > maxConditions) {
      if (this.#conditions === maxConditions + 1)
        this.#issue(path, `the rule has more than ${maxConditions} conditions`, item);
      return null;
    }
    if (!isMap(item)) {
      this.#issue(path, `must be a map with ${conditionKeys.join(', ')}, or a group`, item);
      return null;
    }
    if (item.has('logic') || item.has('rules')) return this.#group(item, path, depth + 1);
    return this.#condition(this.#members(item, conditionKeys, path), item, path, 'field', 'operator');
  }

  #condition(
    members: Members,
    map: YAMLMap,
    path: string,
    fieldKey: string,
    operatorKey: string,
  ): RuleCondition | null {
    const values = [fieldKey, operatorKey, 'value'].map((key) => {
      if (!members.has(key)) this.#issue(`${path}.${key}`, 'is missing', map);
      return plainValue(members.get(key));
    });
    if ([fieldKey, operatorKey, 'value'].some((key) => !members.has(key))) return null;
    const [field, operator, value] = values;
    const problem = conditionProblem(field, operator, value);
    if (problem === null) return { field, operator, value } as RuleCondition;
    const key = { field: fieldKey, operator: operatorKey, value: 'value' }[problem.part];
    this.#issue(`${path}.${key}`, problem.reason, members.get(key) ?? map);
    return null;
  }

  #severity(metadata: Members | null, output: Members | null): Severity {
    const own = this.#optionalWord<Severity>(output, 'output.severity', severities);
    const general = this.#optionalWord<Severity>(metadata, 'metadata.severity', severities);
    const severity = own ?? general;
    if (severity === null && this.#issues === 0)
      this.#issue('output.severity', `is missing: one of ${severities.join(', ')}`, this.#root);
    return severity ?? 'info';
  }

  /** The known keys of a map; others are problems. */
  #members(map: YAMLMap, known: readonly string[], path: string): Members {
    const found = new Map<string, unknown>();
    for (const { key, value } of map.items.filter(isPair)) {
      const name = isScalar(key) ? String(key.value) : '';
      if (known.includes(name)) found.set(name, value ?? null);
      else {
        const guess = nearest(name, known);
        const hint = guess ? `did you mean ${guess}?` : `known: ${known.join(', ')}`;
        this.#issue(path === '' ? name : `${path}.${name}`, `unknown key; ${hint}`, key);
      }
    }
    return found;
  }

  #map(members: Members, key: string, known: readonly string[]): Members | null {
    const node = members.get(key);
    if (node === undefined) return null;
    if (isMap(node)) return this.#members(node, known, key);
    this.#issue(key, `must be a map with ${known.join(', ')}`, node);
    return null;
  }

  #text(members: Members | null, path: string, form: RegExp | null, meaning: string): string {
    const key = lastOf(path);
    const node = members?.get(key);
    if (node === undefined) {
      if (members !== null) this.#missing(path);
      return '';
    }
    const value = plainValue(node);
    if (typeof value !== 'string' || value.trim() === '') this.#issue(path, 'must be text', node);
    else if (value.length > mostOf(key)) this.#issue(path, `is longer than ${mostOf(key)} characters`, node);
    else if (form && !form.test(value)) this.#issue(path, `must be ${meaning}`, node);
    else return value.trim();
    return '';
  }

  /** Empty text counts as missing, as in the template of a rule. */
  #optionalText(members: Members | null, path: string, form: RegExp | null = null, meaning = ''): string {
    const value = members?.get(lastOf(path));
    return value === undefined || plainValue(value) === '' ? '' : this.#text(members, path, form, meaning);
  }

  #word<T extends string>(members: Members, path: string, words: readonly T[], place?: unknown): T {
    const node = members.get(lastOf(path));
    if (node === undefined) this.#issue(path, `is missing: one of ${words.join(', ')}`, place ?? this.#root);
    return this.#optionalWord(members, path, words) ?? (words[0] as T);
  }

  #optionalWord<T extends string>(members: Members | null, path: string, words: readonly T[]): T | null {
    const node = members?.get(lastOf(path));
    if (node === undefined) return null;
    const value = plainValue(node);
    const word = words.find((one) => one === value);
    if (word === undefined) this.#issue(path, `must be one of ${words.join(', ')}`, node);
    return word ?? null;
  }

  /** True if missing. */
  #flag(members: Members | null, path: string): boolean {
    const node = members?.get(lastOf(path));
    const value = node === undefined ? true : plainValue(node);
    if (typeof value !== 'boolean') this.#issue(path, 'must be true or false', node);
    return value === true;
  }

  #list(members: Members | null, path: string, form: RegExp, meaning: string): string[] {
    const node = members?.get(lastOf(path));
    if (node === undefined) return [];
    if (!isSeq(node) || node.items.length > maxList) {
      this.#issue(path, `must be a list of at most ${maxList} texts`, node);
      return [];
    }
    return node.items.flatMap((item, index) => {
      const value = plainValue(item);
      if (typeof value === 'string' && form.test(value)) return [value];
      this.#issue(`${path}[${index}]`, `must be ${meaning}`, item);
      return [];
    });
  }

  #missing(path: string): void {
    this.#issue(path, 'is missing', this.#root);
  }

  #issue(field: string, reason: string, node: unknown): void {
    this.#issues++;
    this.#onIssue(field, reason, isNode(node) ? node : this.#root);
  }
}

/** Maximum length of the text of a key. */
function mostOf(key: string): number {
  if (key === 'action') return maxActionLength;
  return ['message', 'remediation', 'reference'].includes(key) ? maxText : maxName;
}

function lastOf(path: string): string {
  return path.slice(path.lastIndexOf('.') + 1);
}

/** The shape was checked before: it cannot be deep, and it has no aliases. */
function plainValue(node: unknown): unknown {
  return isNode(node) ? node.toJSON() : node;
}
