import { parseNtp, parseSnmp } from './management.ts';
import { parseMongodb } from './mongodb.ts';
import { parseRdp, parseRfb, parseX11 } from './remote-screen.ts';
import { parseRpc } from './rpc.ts';
import { parseRsync } from './rsync.ts';
import { parseSmb } from './smb.ts';

/** A service recognised by its answer, with what it told by evidence key. */
export interface BinaryService {
  service: string;
  evidence: [key: string, text: string][];
  /** What proves the protocol, in words where the bytes are no text. */
  proof: string;
}

/** Recognises the services over TCP that are not read line by line. Some forms are short, so the probe counts too. */
export function parseBinaryService(bytes: Buffer, probe: string): BinaryService | null {
  return (
    readRfb(bytes) ??
    readRsync(bytes) ??
    readRdp(bytes) ??
    readSmb(bytes) ??
    readMongodb(bytes) ??
    readRpc(bytes, probe) ??
    (probe === 'x11' ? readX11(bytes) : null)
  );
}

function readRfb(bytes: Buffer): BinaryService | null {
  const record = parseRfb(bytes);
  if (!record) return null;
  const evidence: BinaryService['evidence'] = [['vnc.version', record.version]];
  if (record.securityTypes) evidence.push(['vnc.security', record.securityTypes.join(' ')]);
  return { service: 'vnc', evidence, proof: `RFB ${record.version}` };
}

function readRsync(bytes: Buffer): BinaryService | null {
  const record = parseRsync(bytes);
  if (!record) return null;
  const evidence: BinaryService['evidence'] = [['rsync.version', record.version]];
  return { service: 'rsync', evidence, proof: `@RSYNCD: ${record.version}` };
}

function readRdp(bytes: Buffer): BinaryService | null {
  const record = parseRdp(bytes);
  return record && { service: 'rdp', evidence: [['rdp.security', record.security]], proof: record.proof };
}

function readSmb(bytes: Buffer): BinaryService | null {
  const record = parseSmb(bytes);
  if (!record) return null;
  return {
    service: 'smb',
    evidence: [['smb.dialect', record.dialect]],
    proof: `SMB dialect ${record.dialect}`,
  };
}

function readMongodb(bytes: Buffer): BinaryService | null {
  const record = parseMongodb(bytes);
  if (!record) return null;
  const { version } = record;
  return {
    service: 'mongodb',
    evidence: version === null ? [] : [['mongodb.version', version]],
    proof: version === null ? 'answer of the MongoDB wire protocol' : `buildInfo: version ${version}`,
  };
}

function readRpc(bytes: Buffer, probe: string): BinaryService | null {
  const record = probe === 'nfs' || probe === 'rpcbind' ? parseRpc(bytes, 'tcp') : null;
  if (!record) return null;
  const service = probe === 'nfs' && record.accepted ? 'nfs' : 'rpcbind';
  const programs = [...new Set(record.registrations.map(({ program }) => program))];
  return {
    service,
    evidence: programs.length > 0 ? [['rpc.programs', programs.join(' ')]] : [],
    proof: record.accepted ? 'the call was accepted' : 'an answer of ONC RPC',
  };
}

function readX11(bytes: Buffer): BinaryService | null {
  const record = parseX11(bytes);
  if (!record) return null;
  const proof = record.admitted
    ? `X${record.version}: admitted by ${record.text}`
    : `X${record.version}: ${record.text}`;
  return { service: 'x11', evidence: record.admitted ? [['x11.vendor', record.text]] : [], proof };
}

/** Recognises the answer to a question over UDP; the question's name says what was asked. */
export function parseDatagramService(bytes: Buffer, probe: string): BinaryService | null {
  const snmp = probe.startsWith('snmp') ? parseSnmp(bytes) : null;
  if (snmp) {
    const evidence: BinaryService['evidence'] = snmp.text === null ? [] : [['snmp.sysdescr', snmp.text]];
    return { service: 'snmp', evidence, proof: snmp.text ?? `SNMP version ${snmp.version}` };
  }
  const ntp = probe.startsWith('ntp') ? parseNtp(bytes) : null;
  if (!ntp) return null;
  const proof = ntp.kind === 'time' ? `NTP, stratum ${ntp.stratum}` : `NTP, list of ${ntp.clients} clients`;
  return { service: 'ntp', evidence: [], proof };
}
