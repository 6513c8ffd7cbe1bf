import { describe, expect, it } from 'vitest';
import { sharedObjectProblem } from './elf.ts';

function header({ machine = 62, kind = 3, bits = 2, order = 1 } = {}): Buffer {
  const bytes = Buffer.alloc(20);
  bytes.set([0x7f, 0x45, 0x4c, 0x46, bits, order]);
  if (order === 1) {
    bytes.writeUInt16LE(kind, 16);
    bytes.writeUInt16LE(machine, 18);
  } else {
    bytes.writeUInt16BE(kind, 16);
    bytes.writeUInt16BE(machine, 18);
  }
  return bytes;
}

describe('the header of a shared object', () => {
  it('passes on its own architecture', () => {
    expect(sharedObjectProblem(header(), 'x64')).toBeNull();
    expect(sharedObjectProblem(header({ machine: 183 }), 'arm64')).toBeNull();
  });

  it.each([
    [header({ machine: 183 }), 'built for another architecture: ARM64; this machine is x86-64'],
    [header({ machine: 3, bits: 1 }), 'built for another architecture: x86 (32 bit); this machine is x86-64'],
    [
      header({ machine: 22, order: 2 }),
      'built for another architecture: s390x, big-endian; this machine is x86-64',
    ],
    [header({ machine: 999 }), 'built for another architecture: machine 999; this machine is x86-64'],
    [header({ kind: 1 }), 'not a shared object but an object file (link it with -shared)'],
    [header({ kind: 2 }), 'not a shared object but a program'],
    [header().subarray(0, 19), 'not a shared object: it has no ELF header'],
    [Buffer.from('export const Plugin = {};'), 'not a shared object: it has no ELF header'],
    [Buffer.alloc(0), 'not a shared object: it has no ELF header'],
  ])('names what is wrong (%#)', (bytes, problem) => {
    expect(sharedObjectProblem(bytes, 'x64')).toBe(problem);
  });
});
