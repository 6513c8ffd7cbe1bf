import { type ASTNode, Environment, type ParseResult } from '@marcbachmann/cel-js';
import { nearest } from '../domain/text/nearest.ts';
import type { AlertCondition } from './alert-rules.ts';
import { alertVariableNames } from './alert-values.ts';
import { translateWords } from './condition-words.ts';

/** Longest condition, characters. */
export const maxConditionLength = 1000;
/** Parentheses and calls within each other, levels. */
const maxNesting = 20;
/** Variables, constants and operators of one condition. */
const maxParts = 200;

/** A problem of a condition, at a 0-based offset in its text. */
export interface ConditionProblem {
  problem: string;
  offset: number;
}

const arithmetic: Record<string, (left: number, right: number) => number> = {
  '+': (left, right) => left + right,
  '-': (left, right) => left - right,
  '*': (left, right) => left * right,
  '/': (left, right) => left / right,
};
const conversions = ['double', 'int'];
/** Everything else has no use in a condition, and some of it loops. */
const logical = new Set<string>(['&&', '||', '!_', '<', '<=', '>', '>=', '==', '!=']);
const allowed = new Set<string>([...logical, ...Object.keys(arithmetic), '-_', 'value', 'id', 'call']);

const environment = alertEnvironment();

/** All variables are doubles; integer constants are as good as doubles beside them. */
function alertEnvironment(): Environment {
  const made = new Environment({ limits: { maxAstNodes: maxParts, maxDepth: maxNesting } });
  for (const name of alertVariableNames) made.registerVariable(name, 'double');
  for (const [operator, apply] of Object.entries(arithmetic)) {
    const calculate = (left: unknown, right: unknown) => apply(Number(left), Number(right));
    made.registerOperator(`double ${operator} int: double`, calculate);
    made.registerOperator(`int ${operator} double: double`, calculate);
  }
  // The library adds the other order and != by itself.
  made.registerOperator('double == int', (left, right) => left === Number(right));
  return made;
}

/** Checks a condition: CEL of type bool, over the variables of alerts. */
export function parseCondition(text: string): AlertCondition | ConditionProblem {
  if (text.trim() === '') return { problem: 'the condition is empty', offset: 0 };
  if (text.length > maxConditionLength)
    return { problem: `longer than ${maxConditionLength} characters`, offset: maxConditionLength };
  const translated = translateWords(text);
  try {
    const parsed = environment.parse(translated);
    return problemOf(parsed) ?? conditionOf(text, translated, parsed.ast);
  } catch (error) {
    return celProblem(error);
  }
}

function problemOf({ ast, check }: ParseResult): ConditionProblem | null {
  const foreign = parts(ast).find((node) => !allowed.has(node.op) || isForeignCall(node));
  if (foreign)
    return { problem: 'only comparisons, && || ! and + - * / can be used here', offset: foreign.start };
  const { valid, type, error } = check();
  if (!valid) return celProblem(error);
  if (type === 'bool') return null;
  return { problem: `must be true or false, but has the type ${type}`, offset: ast.start };
}

function isForeignCall(node: ASTNode): boolean {
  return node.op === 'call' && !conversions.includes(node.args[0]);
}

function celProblem(error: unknown): ConditionProblem {
  const { message, summary, range } = error as Error & { summary?: string; range?: { start: number } };
  const text = summary ?? message;
  const offset = range?.start ?? 0;
  const [, name] = /^Unknown variable: (\w+)$/.exec(text) ?? [];
  if (name !== undefined) return { problem: `unknown variable ${name}; ${hintFor(name)}`, offset };
  const hint = text === 'no such overload: !double' ? '; put the comparison after "not" in parentheses' : '';
  return { problem: text.replace('Unexpected token: EOF', 'unexpected end of the condition') + hint, offset };
}

function hintFor(name: string): string {
  const guess = nearest(name, alertVariableNames);
  return guess ? `did you mean ${guess}?` : `known: ${alertVariableNames.join(', ')}`;
}

function conditionOf(text: string, translated: string, ast: ASTNode): AlertCondition {
  const evaluate = environment.parse(withoutUnequal(ast, translated));
  const named = new Set(parts(ast).flatMap((node) => (node.op === 'id' ? [node.args] : [])));
  return {
    text,
    variables: alertVariableNames.filter((name) => named.has(name)),
    holds: (values) => evaluate(values) === true,
  };
}

/** The same condition with `(a < b || a > b)` for `a != b` of numbers, which is false if one of them is NaN. */
function withoutUnequal(node: ASTNode, text: string): string {
  const render = (inner: ASTNode) => `(${withoutUnequal(inner, text)})`;
  switch (node.op) {
    case 'value':
    case 'id':
      return text.slice(node.start, node.end);
    case '!_':
      return `!${render(node.args)}`;
    case '-_':
      return `-${render(node.args)}`;
    case 'call':
      return `${node.args[0]}(${node.args[1].map((argument) => withoutUnequal(argument, text)).join(', ')})`;
    default: {
      const [left, right] = node.args as [ASTNode, ASTNode];
      if (node.op !== '!=' || !isNumber(left)) return `${render(left)} ${node.op} ${render(right)}`;
      return `(${render(left)} < ${render(right)} || ${render(left)} > ${render(right)})`;
    }
  }
}

function isNumber(node: ASTNode): boolean {
  if (node.op === 'value') return typeof node.args === 'bigint' || typeof node.args === 'number';
  return !logical.has(node.op);
}

/** A node and everything in it. */
function parts(node: ASTNode): ASTNode[] {
  return [node, ...childrenOf(node.args).flatMap(parts)];
}

function childrenOf(args: unknown): ASTNode[] {
  if (Array.isArray(args)) return args.flatMap(childrenOf);
  return isNode(args) ? [args] : [];
}

function isNode(value: unknown): value is ASTNode {
  return typeof value === 'object' && value !== null && 'op' in value && 'args' in value;
}
