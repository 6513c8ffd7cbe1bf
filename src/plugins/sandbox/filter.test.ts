import { describe, expect, it } from 'vitest';
import {
  auditArchitectures,
  filterBytes,
  hostFilter,
  type Instruction,
  launchFilter,
  offsets,
  operations,
  verdicts,
} from './filter.ts';
import { type Architecture, execCalls, firstUnknown, syscalls } from './syscalls.ts';

const pid = 4711;

/** Runs the bytes of a filter as the kernel does. */
function verdict(filter: Instruction[], arch: number, number: number, args: number[] = []): string {
  const bytes = filterBytes(filter);
  const data = Buffer.alloc(64);
  data.writeUInt32LE(number, offsets.number);
  data.writeUInt32LE(arch, offsets.architecture);
  args.forEach((value, index) => data.writeBigUInt64LE(BigInt(value), offsets.arguments + index * 8));
  let loaded = 0;
  for (let at = 0; at < filter.length; at += 1) {
    const [code, jt, jf, k] = [
      bytes.readUInt16LE(at * 8),
      bytes[at * 8 + 2] ?? 0,
      bytes[at * 8 + 3] ?? 0,
      bytes.readUInt32LE(at * 8 + 4),
    ];
    if (code === operations.end)
      return Object.entries(verdicts).find(([, value]) => value === k)?.[0] ?? `unknown ${k}`;
    if (code === operations.load) loaded = data.readUInt32LE(k);
    else if (code === operations.and) loaded = (loaded & k) >>> 0;
    else if (code === operations.jumpEqual) at += loaded === k ? jt : jf;
    else if (code === operations.jumpGreaterEqual) at += loaded >= k ? jt : jf;
    else if (code === operations.jumpAny) at += (loaded & k) !== 0 ? jt : jf;
    else throw new Error(`no such operation: ${code}`);
  }
  throw new Error('the filter ends without a verdict');
}

describe.each(['x64', 'arm64'] as const)('the filter of %s', (architecture: Architecture) => {
  const filter = launchFilter(architecture, pid);
  const asked = (name: string, ...args: number[]) => {
    const number = { ...syscalls, ...execCalls }[name]?.[architecture];
    if (number === undefined || number === null) throw new Error(`no call ${name}`);
    return verdict(filter, auditArchitectures[architecture], number, args);
  };

  it('denies every call of the table that has no condition', () => {
    for (const [name, syscall] of Object.entries(syscalls)) {
      if (syscall[architecture] === null || typeof syscall.restriction === 'object') continue;
      expect([name, asked(name)]).toEqual([name, syscall.restriction]);
    }
  });

  it('lets threads start and no process', () => {
    expect(asked('clone', 0x1_0000)).toBe('allow');
    expect(asked('clone', 17)).toBe('deny');
    expect(asked('clone3')).toBe('missing');
  });

  it('lets a process signal itself only, whatever the upper half of the argument says', () => {
    expect(asked('kill', pid)).toBe('allow');
    for (const other of [1, 0, pid + 1, 0xffff_ffff]) expect(asked('kill', other)).toBe('deny');
    expect(asked('kill', 2 ** 32 + 1)).toBe('deny');
    expect(asked('tgkill', pid + 1)).toBe('deny');
    expect(asked('prlimit64', 0)).toBe('allow');
    expect(asked('prlimit64', 1)).toBe('deny');
    expect(asked('fcntl', 0, 8)).toBe('deny');
    expect(asked('fcntl', 0, 3)).toBe('allow');
    expect(asked('ioctl', 0, 0x8902)).toBe('deny');
    // PR_SET_PDEATHSIG, PR_SET_DUMPABLE and PR_SET_NAME.
    expect([1, 4, 15].map((option) => asked('prctl', option))).toEqual(['deny', 'deny', 'allow']);
  });

  it('denies memory that no limit counts and truncation at opening', () => {
    expect(asked('mmap', 0, 4096, 7, 0x22)).toBe('allow');
    expect(asked('mmap', 0, 4096, 7, 0x01)).toBe('allow');
    expect(asked('mmap', 0, 4096, 7, 0x21)).toBe('deny');
    expect(asked('mmap', 0, 4096, 7, 0x122)).toBe('deny');
    expect(asked('openat', 0, 0, 0x200)).toBe('deny');
    expect(asked('openat', 0, 0, 0)).toBe('allow');
  });

  it('knows no call from the future and none of another architecture', () => {
    const own = auditArchitectures[architecture];
    expect(verdict(filter, own, firstUnknown)).toBe('missing');
    expect(verdict(filter, own, 0x4000_0000 + 41)).toBe('missing');
    expect(verdict(filter, 0x4000_0003, 1)).toBe('kill');
  });

  it('leaves the start of programs to the second filter', () => {
    for (const name of Object.keys(execCalls)) {
      const number = execCalls[name]?.[architecture] ?? -1;
      expect(asked(name)).toBe('allow');
      expect(verdict(hostFilter(architecture), auditArchitectures[architecture], number)).toBe('deny');
    }
    expect(verdict(hostFilter(architecture), auditArchitectures[architecture], 1)).toBe('allow');
  });

  it('has each number once', () => {
    const numbers = Object.values({ ...syscalls, ...execCalls })
      .map((syscall) => syscall[architecture])
      .filter((number) => number !== null);
    expect(new Set(numbers).size).toBe(numbers.length);
  });
});
