import { type Architecture, execCalls, firstUnknown, type Restriction, syscalls } from './syscalls.ts';

/** One instruction of a seccomp filter: `struct sock_filter` of the kernel. */
export interface Instruction {
  code: number;
  /** How many instructions to skip if the test holds, and if not. */
  jt: number;
  jf: number;
  k: number;
}

/** Operations of classic BPF that the filters use. */
export const operations = {
  load: 0x20,
  and: 0x54,
  jumpEqual: 0x15,
  jumpGreaterEqual: 0x35,
  jumpAny: 0x45,
  end: 0x06,
};
/** What a filter answers. */
export const verdicts = {
  allow: 0x7fff_0000,
  deny: 0x0005_0001,
  missing: 0x0005_0026,
  kill: 0x8000_0000,
};
/** Values of `arch` in `struct seccomp_data`. */
export const auditArchitectures: Record<Architecture, number> = { x64: 0xc000_003e, arm64: 0xc000_00b7 };
/** Places in `struct seccomp_data`. Both architectures are little-endian; the low half of an argument comes first. */
export const offsets = { number: 0, architecture: 4, arguments: 16 };

/** The filter of the launcher and all that it starts. @param pid of the launcher, which the host keeps */
export function launchFilter(architecture: Architecture, pid: number): Instruction[] {
  const rules = Object.values(syscalls).flatMap((syscall) => {
    const number = syscall[architecture];
    return number === null ? [] : rule(number, syscall.restriction, pid);
  });
  return [
    ...ofArchitecture(architecture),
    at(operations.jumpGreaterEqual, firstUnknown, 0, 1),
    end(verdicts.missing),
    ...rules,
    end(verdicts.allow),
  ];
}

/** The filter that the host adds before it loads a plugin. */
export function hostFilter(architecture: Architecture): Instruction[] {
  const numbers = Object.values(execCalls).map((syscall) => syscall[architecture]);
  const rules = numbers.flatMap((number) => (number === null ? [] : rule(number, 'deny', 0)));
  return [...ofArchitecture(architecture), ...rules, end(verdicts.allow)];
}

/** The filter as the kernel reads it. */
export function filterBytes(filter: Instruction[]): Buffer {
  const bytes = Buffer.alloc(filter.length * 8);
  filter.forEach(({ code, jt, jf, k }, index) => {
    bytes.writeUInt16LE(code, index * 8);
    bytes.writeUInt8(jt, index * 8 + 2);
    bytes.writeUInt8(jf, index * 8 + 3);
    bytes.writeUInt32LE(k, index * 8 + 4);
  });
  return bytes;
}

/** Calls of another architecture have other numbers: they end the process. Leaves the number of the call loaded. */
function ofArchitecture(architecture: Architecture): Instruction[] {
  return [
    at(operations.load, offsets.architecture),
    at(operations.jumpEqual, auditArchitectures[architecture], 1, 0),
    end(verdicts.kill),
    at(operations.load, offsets.number),
  ];
}

/** Every body ends with a verdict, so what it loads disturbs no later rule. */
function rule(number: number, restriction: Restriction, pid: number): Instruction[] {
  const body = bodyOf(restriction, pid);
  return [at(operations.jumpEqual, number, 0, body.length), ...body];
}

function bodyOf(restriction: Restriction, pid: number): Instruction[] {
  if (restriction === 'deny') return [end(verdicts.deny)];
  if (restriction === 'missing') return [end(verdicts.missing)];
  const load = at(operations.load, offsets.arguments + restriction.argument * 8);
  if ('needs' in restriction) {
    const test = at(operations.jumpAny, restriction.needs, 1, 0);
    return [load, test, end(verdicts.deny), end(verdicts.allow)];
  }
  if ('without' in restriction) {
    const masks = restriction.without.flatMap((mask) => [
      load,
      at(operations.and, mask),
      at(operations.jumpEqual, mask, 0, 1),
      end(verdicts.deny),
    ]);
    return [...masks, end(verdicts.allow)];
  }
  const listed = 'not' in restriction ? restriction.not : restriction.allowed === 'self' ? [pid] : [pid, 0];
  const [found, other] =
    'not' in restriction ? [verdicts.deny, verdicts.allow] : [verdicts.allow, verdicts.deny];
  const tests = listed.flatMap((value) => [at(operations.jumpEqual, value, 0, 1), end(found)]);
  return [load, ...tests, end(other)];
}

function at(code: number, k: number, jt = 0, jf = 0): Instruction {
  return { code, jt, jf, k };
}

function end(verdict: number): Instruction {
  return at(operations.end, verdict);
}
