/**
 * A program of the classic Berkeley Packet Filter, eight bytes an instruction (struct sock_filter of linux/filter.h).
 * It runs in the kernel for every packet of the machine, on packets that begin with their network header.
 */

/** Bytes captured of a packet: the longest IPv6 header chain that is parsed, with an ICMP error and its quote. */
export const snapLength = 160;

const load = { byte: 0x30, half: 0x28, byteAtIndex: 0x50, halfAtIndex: 0x48, ipv4HeaderLength: 0xb1 };
const jump = { equal: 0x15, anyBit: 0x45 };
const give = 0x06;
/** Offset of the EtherType, SKF_AD_OFF + SKF_AD_PROTOCOL. */
const etherType = 0xfffff000;

/** A jump target. */
type Label = 'accept' | 'drop' | 'ipv6' | 'ipv4-icmp' | 'ipv6-icmp' | 'ipv4-tcp' | 'ipv6-tcp';
type Step =
  | { code: number; k: number; yes?: Label; no?: Label }
  /** Jumps here mean the next instruction. */
  | { label: Label };

/**
 * Accepts possible responses to the probes of a sweep: TCP to the own port with RST or ACK, ICMP and ICMPv6 errors
 * (destination unreachable, time exceeded). Drops fragments.
 * @param port own TCP port
 */
export function responseFilter(port: number): Buffer {
  return assemble([
    { code: load.half, k: etherType },
    { code: jump.equal, k: 0x86dd, yes: 'ipv6' },
    { code: jump.equal, k: 0x0800, no: 'drop' },
    { code: load.half, k: 6 },
    { code: jump.anyBit, k: 0x1fff, yes: 'drop' },
    { code: load.ipv4HeaderLength, k: 0 },
    { code: load.byte, k: 9 },
    { code: jump.equal, k: 1, yes: 'ipv4-icmp' },
    { code: jump.equal, k: 6, no: 'drop' },
    { code: load.halfAtIndex, k: 2 },
    { code: jump.equal, k: port, no: 'drop' },
    { code: load.byteAtIndex, k: 13 },
    { code: jump.anyBit, k: 0x14, yes: 'accept', no: 'drop' },
    { label: 'ipv4-icmp' },
    { code: load.byteAtIndex, k: 0 },
    { code: jump.equal, k: 3, yes: 'accept' },
    { code: jump.equal, k: 11, yes: 'accept', no: 'drop' },
    { label: 'ipv6' },
    { code: load.byte, k: 6 },
    { code: jump.equal, k: 58, yes: 'ipv6-icmp' },
    { code: jump.equal, k: 6, no: 'drop' },
    { code: load.half, k: 42 },
    { code: jump.equal, k: port, no: 'drop' },
    { code: load.byte, k: 53 },
    { code: jump.anyBit, k: 0x14, yes: 'accept', no: 'drop' },
    { label: 'ipv6-icmp' },
    { code: load.byte, k: 40 },
    { code: jump.equal, k: 1, yes: 'accept' },
    { code: jump.equal, k: 3, yes: 'accept', no: 'drop' },
    { label: 'accept' },
    { code: give, k: snapLength },
    { label: 'drop' },
    { code: give, k: 0 },
  ]);
}

function assemble(steps: readonly Step[]): Buffer {
  const places = new Map<Label, number>();
  const instructions: Exclude<Step, { label: Label }>[] = [];
  for (const step of steps) {
    if ('label' in step) places.set(step.label, instructions.length);
    else instructions.push(step);
  }
  return encodeFilter(
    instructions.map(({ code, k, yes, no }, at) => {
      const distance = (label: Label | undefined) => (label ? (places.get(label) as number) - at - 1 : 0);
      return [code, distance(yes), distance(no), k];
    }),
  );
}

/** `[code, jump if true, jump if false, k]` */
export type FilterInstruction = readonly [number, number, number, number];

export function encodeFilter(instructions: readonly FilterInstruction[]): Buffer {
  const program = Buffer.alloc(8 * instructions.length);
  for (const [at, [code, yes, no, k]] of instructions.entries()) {
    program.writeUInt16LE(code, 8 * at);
    program.writeUInt8(yes, 8 * at + 2);
    program.writeUInt8(no, 8 * at + 3);
    program.writeUInt32LE(k, 8 * at + 4);
  }
  return program;
}
