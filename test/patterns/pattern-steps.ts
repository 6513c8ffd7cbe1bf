import type { PatternNode } from './pattern-tree.ts';

/** What one instruction of the matcher does. */
const One = 0;
const Split = 1;
const Jump = 2;
/** Stores the position in a register. */
const Note = 3;
/** Fails when nothing was read since the position in a register. */
const Moved = 4;
const Anchor = 5;
const Reference = 6;
const Look = 7;
const Match = 8;

/** All of one shape, so that the matcher stays fast. */
interface Instruction {
  type: number;
  /** Of a split the instruction tried first, of a jump the next one; else a register or the number of a group. */
  first: number;
  /** Of a split. */
  second: number;
  accepts: (code: number) => boolean;
  /** Reads towards the start, inside of a lookbehind. */
  behind: boolean;
  negative: boolean;
  sign: string;
  program: Instruction[];
}

function instruction(type: number, fields: Partial<Instruction> = {}): Instruction {
  return {
    type,
    first: fields.first ?? 0,
    second: fields.second ?? 0,
    accepts: fields.accepts ?? (() => false),
    behind: fields.behind ?? false,
    negative: fields.negative ?? false,
    sign: fields.sign ?? '',
    program: fields.program ?? [],
  };
}

/**
 * Counts the steps of a backtracking engine (such as that of V8) that searches a text: the same order of attempts,
 * without its shortcuts. The count depends on the expression and the text only, not on the machine.
 */
export class StepCounter {
  readonly #program: Instruction[];
  readonly #onlyAtStart: boolean;
  readonly #everyMatch: boolean;
  readonly #multiline: boolean;
  readonly #hasReferences: boolean;
  #registers: number;
  #left = 0;

  constructor(tree: PatternNode, flags: string) {
    this.#hasReferences = holds(tree, 'reference');
    this.#registers = this.#hasReferences ? 200 : 0;
    this.#program = this.#compile(tree, false);
    this.#multiline = flags.includes('m');
    this.#everyMatch = flags.includes('g');
    this.#onlyAtStart = flags.includes('y') || (!this.#multiline && beginsAtStart(tree));
  }

  /** Steps of one search (with the flag `g` of all); counting ends at `limit`. */
  steps(text: string, limit: number): number {
    this.#left = limit;
    const last = this.#onlyAtStart ? 0 : text.length;
    for (let start = 0; start <= last && this.#left > 0; start++) {
      const end = this.#run(this.#program, text, start, new Int32Array(this.#registers).fill(-1));
      if (end === -1) continue;
      if (!this.#everyMatch) break;
      start = Math.max(start, end - 1);
    }
    return limit - Math.max(0, this.#left);
  }

  /** Where the match ends, or -1. */
  #run(program: Instruction[], text: string, start: number, registers: Int32Array): number {
    /** Pairs: an instruction and a position to go back to, or (below zero) a register and what it held. */
    const back: number[] = [];
    let at = 0;
    let position = start;
    for (;;) {
      if (--this.#left <= 0) return -1;
      const step = program[at++] as Instruction;
      let alive = true;
      switch (step.type) {
        case One: {
          const index = step.behind ? position - 1 : position;
          alive = index >= 0 && index < text.length && step.accepts(text.charCodeAt(index));
          position = step.behind ? index : index + 1;
          break;
        }
        case Split:
          back.push(step.second, position);
          at = step.first;
          break;
        case Jump:
          at = step.first;
          break;
        case Note:
          back.push(-1 - step.first, registers[step.first] as number);
          registers[step.first] = position;
          break;
        case Moved:
          alive = registers[step.first] !== position;
          break;
        case Anchor:
          alive = this.#isAnchored(step.sign, text, position);
          break;
        case Reference: {
          const [from = -1, to = -1] = registers.subarray(2 * step.first, 2 * step.first + 2);
          const captured = from < 0 || to < 0 ? '' : text.slice(from, to);
          alive = text.startsWith(captured, position);
          position += captured.length;
          this.#left -= captured.length;
          break;
        }
        case Look:
          alive = (this.#run(step.program, text, position, registers) === -1) === step.negative;
          break;
        default:
          return position;
      }
      while (!alive) {
        const value = back.pop();
        const target = back.pop();
        if (target === undefined || value === undefined) return -1;
        if (target < 0) registers[-1 - target] = value;
        else {
          at = target;
          position = value;
          alive = true;
        }
      }
    }
  }

  #isAnchored(sign: string, text: string, position: number): boolean {
    const word = (index: number) => /^\w$/.test(text[index] ?? '');
    const lineEnd = (index: number) => this.#multiline && /^[\n\r\u2028\u2029]$/.test(text[index] ?? '');
    if (sign === '^') return position === 0 || lineEnd(position - 1);
    if (sign === '$') return position === text.length || lineEnd(position);
    return (word(position - 1) !== word(position)) === (sign === 'b');
  }

  #compile(tree: PatternNode, behind: boolean): Instruction[] {
    const program: Instruction[] = [];
    this.#emit(tree, program, behind);
    program.push(instruction(Match));
    return program;
  }

  #emit(node: PatternNode, program: Instruction[], behind: boolean): void {
    if (node.type === 'one') program.push(instruction(One, { accepts: node.accepts, behind }));
    else if (node.type === 'anchor') program.push(instruction(Anchor, { sign: node.sign }));
    else if (node.type === 'reference') program.push(instruction(Reference, { first: node.number, behind }));
    else if (node.type === 'look') {
      program.push(
        instruction(Look, { program: this.#compile(node.body, node.behind), negative: node.negative }),
      );
    } else if (node.type === 'group') this.#emitGroup(node.body, node.number, program, behind);
    else if (node.type === 'repeat') this.#emitRepeat(node, program, behind);
    else if (node.type === 'sequence') {
      for (const part of behind ? node.nodes.toReversed() : node.nodes) this.#emit(part, program, behind);
    } else this.#emitChoice(node.options, program, behind);
  }

  #emitGroup(body: PatternNode, number: number, program: Instruction[], behind: boolean): void {
    const noted = this.#hasReferences && number > 0;
    if (noted) program.push(instruction(Note, { first: 2 * number + (behind ? 1 : 0) }));
    this.#emit(body, program, behind);
    if (noted) program.push(instruction(Note, { first: 2 * number + (behind ? 0 : 1) }));
  }

  #emitChoice(options: PatternNode[], program: Instruction[], behind: boolean): void {
    const jumps: Instruction[] = [];
    for (const [index, option] of options.entries()) {
      const split = instruction(Split, { first: program.length + 1 });
      if (index < options.length - 1) program.push(split);
      this.#emit(option, program, behind);
      const jump = instruction(Jump);
      jumps.push(jump);
      program.push(jump);
      split.second = program.length;
    }
    for (const jump of jumps) jump.first = program.length;
  }

  #emitRepeat(
    { body, least, most, lazy }: PatternNode & { type: 'repeat' },
    program: Instruction[],
    behind: boolean,
  ): void {
    for (let count = 0; count < least; count++) this.#emit(body, program, behind);
    const splits: Instruction[] = [];
    const enter = () => {
      const split = instruction(Split, { first: program.length + 1 });
      program.push(split);
      splits.push(split);
    };
    const begin = program.length;
    if (most === Number.POSITIVE_INFINITY) {
      enter();
      // A body of one character always reads something.
      const register = body.type === 'one' ? null : this.#registers++;
      if (register !== null) program.push(instruction(Note, { first: register }));
      this.#emit(body, program, behind);
      if (register !== null) program.push(instruction(Moved, { first: register }));
      program.push(instruction(Jump, { first: begin }));
    } else {
      for (let count = least; count < most; count++) {
        enter();
        this.#emit(body, program, behind);
      }
    }
    for (const split of splits) {
      split.second = program.length;
      if (lazy) [split.first, split.second] = [split.second, split.first];
    }
  }
}

function children(node: PatternNode): PatternNode[] {
  if (node.type === 'sequence') return node.nodes;
  if (node.type === 'choice') return node.options;
  return 'body' in node ? [node.body] : [];
}

function holds(node: PatternNode, type: PatternNode['type']): boolean {
  return node.type === type || children(node).some((child) => holds(child, type));
}

function beginsAtStart(node: PatternNode): boolean {
  if (node.type === 'anchor') return node.sign === '^';
  if (node.type === 'sequence') return node.nodes[0] !== undefined && beginsAtStart(node.nodes[0]);
  if (node.type === 'choice') return node.options.every(beginsAtStart);
  if (node.type === 'group') return beginsAtStart(node.body);
  return node.type === 'repeat' && node.least > 0 && beginsAtStart(node.body);
}
