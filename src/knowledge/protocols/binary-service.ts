import { enterpriseName, enterpriseOfObject } from '../hosts/enterprise-numbers.ts';
import { rpcPrograms } from '../probes/infrastructure.ts';
import {
  readCoap,
  readDtls,
  readQuic,
  readSqlBrowser,
  readSsdp,
  readStun,
  readWsDiscovery,
  readXdmcp,
} from './announcement.ts';
import { readBacnet, readEthernetIp, readFins } from './control-system.ts';
import {
  readBedrock,
  readMinetest,
  readQuake,
  readSourceEngine,
  readTeeworlds,
} from './game-announcement.ts';
import { parseIpmi, parseNtp, parseSnmp, parseSnmpReport } from './management.ts';
import { parseMongodb } from './mongodb.ts';
import { readMumblePing } from './mumble.ts';
import { readMulticastDns, readNodeStatus } from './name-announcement.ts';
import { parseNetworkService } from './network-service.ts';
import { type RecognizedService, type ResponseParser, recognizedBy } from './recognized-service.ts';
import { parseRdp, parseRfb, parseX11 } from './remote-screen.ts';
import { parseRpc } from './rpc.ts';
import { parseRsync } from './rsync.ts';
import { parseSmb } from './smb.ts';
import { readIke, readL2tp, readOpenVpn, readPptp } from './tunnel.ts';

/** Recognizes binary services over TCP. Some patterns are short, so the probe counts too. */
export function parseBinaryService(bytes: Buffer, probe: string): RecognizedService | null {
  return (
    readRfb(bytes) ??
    readRsync(bytes) ??
    readRdp(bytes, probe) ??
    readSmb(bytes) ??
    readMongodb(bytes) ??
    readRpc(bytes, probe) ??
    readStun(bytes) ??
    readPptp(bytes) ??
    (probe === 'openvpn' ? readOpenVpn(bytes, 'tcp') : null) ??
    (probe === 'x11' ? readX11(bytes) : null)
  );
}

function readRfb(bytes: Buffer): RecognizedService | null {
  const record = parseRfb(bytes);
  if (!record) return null;
  const evidence: RecognizedService['evidence'] = [['vnc.version', record.version]];
  if (record.securityTypes) evidence.push(['vnc.security', record.securityTypes.join(' ')]);
  return { service: 'vnc', evidence, proof: `RFB ${record.version}` };
}

function readRsync(bytes: Buffer): RecognizedService | null {
  const record = parseRsync(bytes);
  if (!record) return null;
  return recognizedBy('rsync', 'rsync.version', record.version, `@RSYNCD: ${record.version}`);
}

function readRdp(bytes: Buffer, probe: string): RecognizedService | null {
  const record = parseRdp(bytes);
  if (!record) return null;
  const evidence: RecognizedService['evidence'] = [['rdp.security', record.security]];
  // The server's reference, then the security protocol it selected, with flags.
  if (probe === 'rdp-session' && bytes.length >= 19)
    evidence.push(['rdp.choice', bytes.toString('hex', 8, 19)]);
  return { service: 'rdp', evidence, proof: record.proof };
}

function readSmb(bytes: Buffer): RecognizedService | null {
  const record = parseSmb(bytes);
  if (!record) return null;
  return recognizedBy('smb', 'smb.dialect', record.dialect, `SMB dialect ${record.dialect}`);
}

function readMongodb(bytes: Buffer): RecognizedService | null {
  const record = parseMongodb(bytes);
  if (!record) return null;
  const { version } = record;
  if (version !== null)
    return recognizedBy('mongodb', 'mongodb.version', version, `buildInfo: version ${version}`);
  return { service: 'mongodb', evidence: [], proof: 'response of the MongoDB wire protocol' };
}

function readRpc(bytes: Buffer, probe: string): RecognizedService | null {
  if (probe === 'rpc-program') return readRpcProgram(bytes);
  if (probe === 'glusterfs') return readGlusterfs(bytes);
  const record = probe === 'nfs' || probe === 'rpcbind' ? parseRpc(bytes, 'tcp') : null;
  if (!record) return null;
  const service = !record.accepted ? 'rpc' : probe === 'nfs' ? 'nfs' : 'rpcbind';
  const programs = [...new Set(record.registrations.map(({ program }) => program))];
  return {
    service,
    // A rejection identifies only the protocol family.
    ...(record.accepted ? {} : { certainty: 0.6 }),
    evidence: programs.length > 0 ? [['rpc.programs', programs.join(' ')]] : [],
    proof: record.accepted ? 'the call was accepted' : 'ONC RPC response',
  };
}

/** GlusterFS lists its programs under a program number of its own. */
function readGlusterfs(bytes: Buffer): RecognizedService | null {
  const record = parseRpc(bytes, 'tcp');
  if (!record) return null;
  if (!record.accepted) return { service: 'rpc', evidence: [], proof: 'ONC RPC response' };
  return recognizedBy('glusterfs', 'glusterfs.programs', 'GF-DUMP', 'the call was accepted');
}

/** Length of a PROG_UNAVAIL reply including its record mark, bytes. */
const notHereLength = 28;

/** The first program whose reply is not PROG_UNAVAIL; replies come in the order of the calls. */
function readRpcProgram(bytes: Buffer): RecognizedService | null {
  for (const [position, { program, name }] of rpcPrograms.entries()) {
    const reply = bytes.subarray(position * notHereLength);
    if (reply.length < 24 || !parseRpc(reply, 'tcp')) return null;
    const unavailable = reply.readUInt32BE(12) === 0 && reply.length >= 28 && reply.readUInt32BE(24) === 1;
    if (!unavailable) return recognizedBy(name, 'rpc.program', name, `program ${program} (${name}) responds`);
  }
  return null;
}

function readX11(bytes: Buffer): RecognizedService | null {
  const record = parseX11(bytes);
  if (!record) return null;
  const proof = record.admitted
    ? `X${record.version}: admitted by ${record.text}`
    : `X${record.version}: ${record.text}`;
  const evidence: RecognizedService['evidence'] = record.admitted ? [['x11.vendor', record.text]] : [];
  if (record.release !== null) evidence.push(['x11.server', `${record.text} ${record.release}`]);
  return { service: 'x11', evidence, proof };
}

/** Recognizes the response to a UDP probe; the name of the probe selects the parser. */
export function parseDatagramService(bytes: Buffer, probe: string): RecognizedService | null {
  if (probe.startsWith('snmp')) return readSnmp(bytes);
  if (probe.startsWith('ntp')) return readNtp(bytes);
  const service = /^udp-([a-z][a-z0-9-]*?)(?:-\d)?$/.exec(probe)?.[1] ?? '';
  return Object.hasOwn(datagramReaders, service) ? (datagramReaders[service]?.(bytes) ?? null) : null;
}

const datagramReaders: Readonly<Record<string, ResponseParser>> = {
  bacnet: readBacnet,
  coap: readCoap,
  dtls: readDtls,
  'ethernet-ip': readEthernetIp,
  fins: readFins,
  ipmi: readIpmi,
  isakmp: readIke,
  kerberos: (bytes) => parseNetworkService(bytes, 'udp-kerberos'),
  l2tp: readL2tp,
  ldap: (bytes) => parseNetworkService(bytes, 'ldap'),
  mdns: readMulticastDns,
  minecraft: readBedrock,
  minetest: readMinetest,
  'ms-sql-m': readSqlBrowser,
  mumble: readMumblePing,
  'netbios-ns': readNodeStatus,
  openvpn: (bytes) => readOpenVpn(bytes, 'udp'),
  quake: readQuake,
  quic: readQuic,
  snmp: readSnmp,
  'source-engine': readSourceEngine,
  ssdp: readSsdp,
  stun: readStun,
  teeworlds: readTeeworlds,
  'ws-discovery': readWsDiscovery,
  xdmcp: readXdmcp,
};

function readSnmp(bytes: Buffer): RecognizedService | null {
  const record = parseSnmp(bytes);
  if (!record) return readSnmpReport(bytes);
  const { text, objectId, name } = record;
  const evidence: RecognizedService['evidence'] = [];
  if (text !== null) evidence.push(['snmp.sysdescr', text]);
  if (name) evidence.push(['snmp.sysname', name]);
  if (objectId !== null) evidence.push(['snmp.sysobjectid', objectId]);
  const maker = objectId === null ? null : enterpriseOfObject(objectId);
  if (maker !== null) evidence.push(makerEvidence(maker));
  return { service: 'snmp', evidence, proof: text ?? `SNMP version ${record.version}` };
}

/** Vendors of agents and operating systems; they do not identify the device. */
const agentMakers: ReadonlySet<string> = new Set([
  'Net-SNMP',
  'UCD-SNMP',
  'bsnmpd',
  'Microsoft',
  'OpenBSD',
  'VyOS',
]);

function makerEvidence(maker: string): [key: string, text: string] {
  return [agentMakers.has(maker) ? 'snmp.agent' : 'snmp.vendor', maker];
}

function readSnmpReport(bytes: Buffer): RecognizedService | null {
  const report = parseSnmpReport(bytes);
  if (!report) return null;
  const evidence: RecognizedService['evidence'] = [['snmp.engine', report.engine]];
  const maker = enterpriseName(report.enterprise);
  if (maker !== null) evidence.push(makerEvidence(maker));
  if (report.mac !== null) evidence.push(['snmp.mac', report.mac]);
  const proof = `SNMP version 3, engine ${report.engine}${maker === null ? '' : ` of ${maker}`}`;
  return { service: 'snmp', evidence, proof };
}

function readNtp(bytes: Buffer): RecognizedService | null {
  const record = parseNtp(bytes);
  if (!record) return null;
  const { kind, variables, stratum, clients } = record;
  if (variables !== null) return recognizedBy('ntp', 'ntp.variables', variables);
  const proof = kind === 'time' ? `NTP, stratum ${stratum}` : `NTP, list of ${clients} clients`;
  return { service: 'ntp', evidence: [], proof };
}

function readIpmi(bytes: Buffer): RecognizedService | null {
  const record = parseIpmi(bytes);
  if (!record) return null;
  const { kind, version2, enterprise, methods, anonymous } = record;
  const maker = enterprise === 4542 ? null : enterpriseName(enterprise);
  const evidence: RecognizedService['evidence'] = [];
  if (version2 !== null) evidence.push(['ipmi.version', version2 ? '2.0' : '1.5']);
  if (methods.length > 0) evidence.push(['ipmi.methods', methods.join(' ')]);
  if (anonymous.length > 0) evidence.push(['ipmi.anonymous', anonymous.join(', ')]);
  if (maker !== null) evidence.push(['ipmi.vendor', maker]);
  const details = evidence.map(([key, text]) => `${key.slice(5)}: ${text}`).join(', ');
  return { service: 'ipmi', evidence, proof: details || (kind === 'pong' ? 'RMCP presence pong' : 'IPMI') };
}
