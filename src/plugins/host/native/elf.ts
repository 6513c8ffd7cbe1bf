/** Header of a shared object for Linux: read before the file is loaded, since the loader's own messages do not say what is wrong. */

/** Bytes that are looked at. */
export const elfHeaderBytes = 20;

const magic = Buffer.from([0x7f, 0x45, 0x4c, 0x46]);
const sharedObject = 3;
const kinds: Record<number, string> = {
  1: 'an object file (link it with -shared)',
  2: 'a program',
  4: 'a core dump',
};
const machines: Record<number, string> = {
  3: 'x86 (32 bit)',
  8: 'MIPS',
  20: 'PowerPC',
  21: 'PowerPC 64',
  22: 's390x',
  40: 'ARM (32 bit)',
  62: 'x86-64',
  183: 'ARM64',
  243: 'RISC-V',
  258: 'LoongArch',
};
const own: Partial<Record<NodeJS.Architecture, number>> = { x64: 62, arm64: 183 };

/** @returns why this machine cannot load the file, or null */
export function sharedObjectProblem(header: Buffer, architecture: NodeJS.Architecture): string | null {
  if (header.length < elfHeaderBytes || !header.subarray(0, 4).equals(magic)) {
    return 'not a shared object: it has no ELF header';
  }
  const wanted = own[architecture] ?? 0;
  const littleEndian = header[5] !== 2;
  const word = (offset: number) => (littleEndian ? header.readUInt16LE(offset) : header.readUInt16BE(offset));
  const machine = word(18);
  if (machine !== wanted || header[4] !== 2 || !littleEndian) {
    const built = `${machines[machine] ?? `machine ${machine}`}${littleEndian ? '' : ', big-endian'}`;
    return `built for another architecture: ${built}; this machine is ${machines[wanted] ?? architecture}`;
  }
  const kind = word(16);
  if (kind !== sharedObject) return `not a shared object but ${kinds[kind] ?? `an ELF file of type ${kind}`}`;
  return null;
}
