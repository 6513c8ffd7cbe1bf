import { rpcCall, withLength } from '../requests/request-bytes.ts';
import { type Probe, requestProbe } from './probe.ts';

/** Probes of file sharing services. */

export const rsync = requestProbe('rsync', [873], '@RSYNCD: 30.0\n#list\n', 'all', { greeting: 'line' });

/** A message of SMB 2 over TCP: its frame has a zero, then the length in 24 bits (MS-SMB2 section 2.1). */
export function smb2Message(command: number, id: number, body: Buffer): Buffer {
  const header = Buffer.alloc(64);
  header.write('\xfeSMB', 'latin1');
  header.writeUInt16LE(64, 4);
  header.writeUInt16LE(command, 12);
  header.writeUInt16LE(31, 14);
  header.writeUInt32LE(id, 24);
  return withLength(header, body);
}

/** MS-SMB2 section 2.2.3: every dialect without the contexts of 3.1.1. */
export function smb2Negotiation(): Buffer {
  const dialects = [0x0202, 0x0210, 0x0300, 0x0302];
  const body = Buffer.alloc(36 + 2 * dialects.length);
  body.writeUInt16LE(36, 0);
  body.writeUInt16LE(dialects.length, 2);
  body.writeUInt16LE(1, 4);
  body.write('portolan-scanner', 12, 'latin1');
  for (const [at, dialect] of dialects.entries()) body.writeUInt16LE(dialect, 36 + 2 * at);
  return smb2Message(0, 0, body);
}

/** MS-CIFS section 2.2.4.52.1: the one dialect of Windows NT. */
function smb1Negotiate(): Buffer {
  const header = Buffer.alloc(32);
  header.write('\xffSMB', 'latin1');
  header[4] = 0x72;
  header[9] = 0x18;
  header.writeUInt16LE(0xc801, 10);
  const dialect = Buffer.from('\x02NT LM 0.12\0', 'latin1');
  return withLength(header, Buffer.from([0, dialect.length, 0]), dialect);
}

export const smb = requestProbe('smb', [445], smb2Negotiation(), 'framed');

/** Whether the server also supports version 1; a server without version 2 disconnects at the first probe. */
export const smb1 = requestProbe('smb1', [], smb1Negotiate(), 'framed', {
  service: 'smb',
  after: { answer: /^\0[^]{3}\xfeSMB|^$/, ports: [445] },
});

/** PMAPPROC_DUMP, RFC 1833 section 3.2. */
export const rpcbind: Probe = {
  name: 'rpcbind',
  service: 'rpcbind',
  // Other ONC RPC programs reply too, with an error: those of NFS and the one of Kerberos.
  ports: [111, 662, 749, 875, 892, 4045, 20_048, 32_771, 32_803],
  greeting: null,
  steps: [{ send: rpcCall(100_000, 2, 4), answer: 'rpc' }],
};

/** NFSPROC3_NULL, RFC 1813 section 3.3.0. */
export const nfs: Probe = {
  name: 'nfs',
  // Its replies have the form of every ONC RPC program.
  service: 'rpcbind',
  ports: [2049],
  greeting: null,
  steps: [{ send: rpcCall(100_003, 3, 0), answer: 'rpc' }],
};
