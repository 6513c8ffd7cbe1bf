/** _LINUX_CAPABILITY_VERSION_3: two sets of 32 capabilities (capget(2)). */
const version3 = 0x2008_0522;
/** Bit of CAP_NET_RAW (capabilities(7)). */
export const rawCapability = 1 << 13;
/** Two structures of effective, permitted and inheritable, bytes. */
const dataBytes = 24;

/** Of libc, for the calling thread (capget(2)). */
export interface CapabilityCalls {
  /** @param header eight bytes @param data 24 bytes @returns 0, -1 on failure */
  capget(header: Uint8Array, data: Uint8Array): number;
  capset(header: Uint8Array, data: Uint8Array): number;
}

/**
 * Makes CAP_NET_RAW effective in this thread where it is permitted: a file capability without the effective bit permits it and
 * no more, so that the program still starts where a container drops it.
 */
export function raiseRawRight(sys: CapabilityCalls): void {
  const header = Buffer.alloc(8);
  header.writeUInt32LE(version3, 0);
  const data = Buffer.alloc(dataBytes);
  if (sys.capget(header, data) !== 0) return;
  const [effective, permitted] = [data.readUInt32LE(0), data.readUInt32LE(4)];
  if ((permitted & rawCapability) === 0 || (effective & rawCapability) !== 0) return;
  data.writeUInt32LE((effective | rawCapability) >>> 0, 0);
  // Without it raw sockets fail, with a reason.
  sys.capset(header, data);
}

/** Whether this process may use raw packets, by its `/proc/self/status`. */
export function permitsRaw(status: string): boolean {
  const permitted = /^CapPrm:\s*([0-9a-f]+)$/m.exec(status)?.[1] ?? '0';
  return (BigInt(`0x${permitted}`) & BigInt(rawCapability)) !== 0n;
}
