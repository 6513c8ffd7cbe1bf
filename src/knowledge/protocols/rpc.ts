/** Maximum number of registrations read. */
const registrationLimit = 200;

export interface RpcRegistration {
  program: number;
  version: number;
  protocol: 'tcp' | 'udp' | null;
  port: number;
}

/** Reply to an ONC RPC call (RFC 5531, 9). */
export interface RpcRecord {
  /** The program exists and the procedure ran. */
  accepted: boolean;
  /** Registrations of a port mapper (RFC 1833, 3.2); empty for other programs. */
  registrations: RpcRegistration[];
}

/** Transaction id of the calls, `PORT`. */
const transaction = 0x504f5254;
const reply = 1;

/** Recognizes a reply to an ONC RPC call; over TCP the record mark comes first. Null = not RPC. */
export function parseRpc(bytes: Buffer, protocol: 'tcp' | 'udp'): RpcRecord | null {
  const message = protocol === 'tcp' ? bytes.subarray(4) : bytes;
  if (message.length < 12 || message.readUInt32BE(0) !== transaction || message.readUInt32BE(4) !== reply)
    return null;
  // A denied reply ends here; an accepted one starts with a verifier.
  if (message.readUInt32BE(8) !== 0 || message.length < 24) return { accepted: false, registrations: [] };
  const verifier = message.readUInt32BE(16);
  const at = 20 + verifier;
  if (verifier > 400 || message.length < at + 4) return { accepted: false, registrations: [] };
  const accepted = message.readUInt32BE(at) === 0;
  return { accepted, registrations: accepted ? registrationsOf(message.subarray(at + 4)) : [] };
}

/** A linked list: 1 before each entry, 0 after the last. */
function registrationsOf(list: Buffer): RpcRegistration[] {
  const found: RpcRegistration[] = [];
  for (let at = 0; at + 20 <= list.length && found.length < registrationLimit; at += 20) {
    if (list.readUInt32BE(at) !== 1) break;
    const [protocol, port] = [list.readUInt32BE(at + 12), list.readUInt32BE(at + 16)];
    found.push({
      program: list.readUInt32BE(at + 4),
      version: list.readUInt32BE(at + 8),
      protocol: protocol === 6 ? 'tcp' : protocol === 17 ? 'udp' : null,
      port,
    });
  }
  return found;
}
