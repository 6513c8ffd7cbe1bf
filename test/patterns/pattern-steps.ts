import type { Characters, PatternNode } from './pattern-tree.ts';

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

interface Instruction {
  type: number;
  /** Of a split the instruction tried first, of a jump the next one; else a register or the number of a group. */
  first: number;
  /** Of a split. */
  second: number;
  accepts: Characters | null;
  /** Reads towards the start, inside of a lookbehind. */
  behind: boolean;
  negative: boolean;
  sign: string;
  program: Program | null;
}

function instruction(type: number, fields: Partial<Instruction> = {}): Instruction {
  return {
    type,
    first: fields.first ?? 0,
    second: fields.second ?? 0,
    accepts: fields.accepts ?? null,
    behind: fields.behind ?? false,
    negative: fields.negative ?? false,
    sign: fields.sign ?? '',
    program: fields.program ?? null,
  };
}

/** Instructions in columns: the matcher takes many million steps for the expressions of the source. */
class Program {
  readonly types: Uint8Array;
  readonly first: Int32Array;
  readonly second: Int32Array;
  readonly behind: Uint8Array;
  readonly sets: (Uint8Array | null)[];
  readonly instructions: readonly Instruction[];

  constructor(instructions: readonly Instruction[]) {
    this.instructions = instructions;
    this.types = Uint8Array.from(instructions, ({ type }) => type);
    this.first = Int32Array.from(instructions, ({ first }) => first);
    this.second = Int32Array.from(instructions, ({ second }) => second);
    this.behind = Uint8Array.from(instructions, ({ behind }) => (behind ? 1 : 0));
    this.sets = instructions.map(({ accepts }) => accepts?.known ?? null);
  }
}

/** A text that says the same again and again between `from` and `to`. */
export interface PeriodicText {
  text: string;
  from: number;
  to: number;
  period: number;
}

/** An attempt to match at one position, in terms that hold wherever the text is the same. */
interface Attempt {
  steps: number;
  /** Of the match, or -1. */
  length: number;
  /** Distance of the last character that it looked at. */
  furthest: number;
}

/** Pairs to go back to: an instruction and a position, or (below zero) a register and what it held. */
let back = new Int32Array(4096);

/**
 * Counts the steps of a backtracking engine (such as that of V8) that searches a text: the same order of attempts,
 * without its shortcuts. The count depends on the expression and the text only, not on the machine.
 */
export class StepCounter {
  readonly #program: Program;
  readonly #onlyAtStart: boolean;
  readonly #everyMatch: boolean;
  readonly #multiline: boolean;
  readonly #hasReferences: boolean;
  #registers: number;
  #left = 0;
  /** Of the characters that an attempt looked at, or for beyond the ends of the text. */
  #lowest = 0;
  #highest = 0;

  constructor(tree: PatternNode, flags: string) {
    this.#hasReferences = holds(tree, 'reference');
    this.#registers = this.#hasReferences ? 200 : 0;
    this.#program = this.#compile(tree, false);
    this.#multiline = flags.includes('m');
    this.#everyMatch = flags.includes('g');
    this.#onlyAtStart = flags.includes('y') || (!this.#multiline && beginsAtStart(tree));
  }

  /**
   * Steps of one search (with the flag `g` of all); counting ends at `limit`. A text that repeats itself repeats its steps:
   * an attempt that begins a period later and looks at nothing else is not run again, and counts the same.
   */
  steps({ text, from, to, period }: PeriodicText, limit: number): number {
    this.#left = limit;
    const last = this.#onlyAtStart ? 0 : text.length;
    const codes = new Uint16Array(text.length);
    for (let index = 0; index < text.length; index++) codes[index] = text.charCodeAt(index);
    const registers = new Int32Array(this.#registers);
    /** By place in the period. */
    const attempts: Attempt[] = [];
    for (let start = 0; start <= last && this.#left > 0; start++) {
      const place = start < from || start >= to ? -1 : (start - from) % period;
      const known = place === -1 ? undefined : attempts[place];
      let end: number;
      if (known !== undefined && start + known.furthest < to) {
        this.#left -= known.steps;
        end = known.length === -1 ? -1 : start + known.length;
      } else {
        const before = this.#left;
        this.#lowest = this.#highest = start;
        registers.fill(-1);
        end = this.#run(this.#program, codes, start, registers, 0);
        if (place !== -1 && this.#lowest >= from && this.#highest < to)
          attempts[place] = {
            steps: before - this.#left,
            length: end === -1 ? -1 : end - start,
            furthest: this.#highest - start,
          };
      }
      if (this.#left <= 0 || end === -1) continue;
      if (!this.#everyMatch) break;
      start = Math.max(start, end - 1);
    }
    return limit - Math.max(0, this.#left);
  }

  /**
   * Where the match ends, or -1.
   * @param bottom where its part of the way back begins: below is that of the program around
   */
  #run(program: Program, text: Uint16Array, start: number, registers: Int32Array, bottom: number): number {
    const { types, first, second, behind, sets, instructions } = program;
    let left = this.#left;
    let lowest = start;
    let highest = start;
    let top = bottom;
    let at = 0;
    let position = start;
    for (;;) {
      if (--left <= 0) {
        this.#looked(left, lowest, highest);
        return -1;
      }
      const step = at++;
      let alive = true;
      switch (types[step]) {
        case One: {
          const index = behind[step] === 1 ? position - 1 : position;
          if (index < lowest) lowest = index;
          if (index > highest) highest = index;
          if (index < 0 || index >= text.length) alive = false;
          else {
            const code = text[index] as number;
            const known = (sets[step] as Uint8Array)[code];
            alive =
              known === 0
                ? ((instructions[step] as Instruction).accepts as Characters).has(code)
                : known === 1;
          }
          position = behind[step] === 1 ? index : index + 1;
          break;
        }
        case Split:
          if (top + 2 > back.length) back = grown(back);
          back[top++] = second[step] as number;
          back[top++] = position;
          at = first[step] as number;
          break;
        case Jump:
          at = first[step] as number;
          break;
        case Note: {
          if (top + 2 > back.length) back = grown(back);
          const register = first[step] as number;
          back[top++] = -1 - register;
          back[top++] = registers[register] as number;
          registers[register] = position;
          break;
        }
        case Moved:
          alive = registers[first[step] as number] !== position;
          break;
        case Anchor:
          if (position - 1 < lowest) lowest = position - 1;
          if (position > highest) highest = position;
          alive = this.#isAnchored((instructions[step] as Instruction).sign, text, position);
          break;
        case Reference: {
          const group = 2 * (first[step] as number);
          const [from, to] = [registers[group] as number, registers[group + 1] as number];
          const length = from < 0 || to < 0 ? 0 : Math.max(0, to - from);
          alive = position + length <= text.length;
          for (let index = 0; alive && index < length; index++)
            alive = text[from + index] === text[position + index];
          position += length;
          left -= length;
          if (position > highest) highest = position;
          break;
        }
        case Look: {
          const { program: body, negative } = instructions[step] as Instruction;
          this.#left = left;
          alive = (this.#run(body as Program, text, position, registers, top) === -1) === negative;
          left = this.#left;
          break;
        }
        default:
          this.#looked(left, lowest, highest);
          return position;
      }
      while (!alive) {
        if (top === bottom) {
          this.#looked(left, lowest, highest);
          return -1;
        }
        const value = back[--top] as number;
        const target = back[--top] as number;
        if (target < 0) registers[-1 - target] = value;
        else {
          at = target;
          position = value;
          alive = true;
        }
      }
    }
  }

  #looked(left: number, lowest: number, highest: number): void {
    this.#left = left;
    if (lowest < this.#lowest) this.#lowest = lowest;
    if (highest > this.#highest) this.#highest = highest;
  }

  #isAnchored(sign: string, text: Uint16Array, position: number): boolean {
    const word = (index: number) => isWord[text[index] ?? 0] === 1;
    const lineEnd = (index: number) => this.#multiline && lineEnds.has(text[index] ?? 0);
    if (sign === '^') return position === 0 || lineEnd(position - 1);
    if (sign === '$') return position === text.length || lineEnd(position);
    return (word(position - 1) !== word(position)) === (sign === 'b');
  }

  #compile(tree: PatternNode, behind: boolean): Program {
    const program: Instruction[] = [];
    this.#emit(tree, program, behind);
    program.push(instruction(Match));
    return new Program(program);
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

const isWord = Uint8Array.from({ length: 65_536 }, (_, code) =>
  /^\w$/.test(String.fromCharCode(code)) ? 1 : 0,
);
const lineEnds = new Set(['\n', '\r', '\u2028', '\u2029'].map((end) => end.charCodeAt(0)));

function grown(array: Int32Array<ArrayBuffer>): Int32Array<ArrayBuffer> {
  const larger = new Int32Array(2 * array.length);
  larger.set(array);
  return larger;
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
