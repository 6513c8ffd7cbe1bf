/** Maximum length of a text field, characters. */
const textLimit = 512;
/** Fields of a message. */
const fieldLimit = 20;

/** Response of a database server, by evidence key. */
export interface DatabaseRecord {
  service: 'mysql' | 'postgresql';
  evidence: [key: string, text: string][];
}

/** Recognizes the MySQL/MariaDB greeting and PostgreSQL responses to a startup or SSL request; null = neither. */
export function parseDatabase(bytes: Buffer, probe: string): DatabaseRecord | null {
  return parseMysql(bytes) ?? parsePostgresql(bytes, probe);
}

/**
 * The first packet of the server: 3 bytes length, sequence number 0, then either protocol version 10 and the
 * server version, or an error (0xff, number, text) such as "Host ... is not allowed to connect".
 */
function parseMysql(bytes: Buffer): DatabaseRecord | null {
  if (bytes.length < 8 || bytes[3] !== 0) return null;
  const length = bytes.readUIntLE(0, 3);
  if (length < 5 || length > 4096) return null;
  const payload = bytes.subarray(4, 4 + length);
  if (payload[0] === 10) {
    const end = payload.subarray(1, 129).indexOf(0);
    const version = end === -1 ? '' : payload.toString('latin1', 1, 1 + end);
    if (!/^\d{1,2}\.\d{1,3}/.test(version)) return null;
    return { service: 'mysql', evidence: [['mysql.greeting', version]] };
  }
  if (payload[0] !== 0xff || payload.length < 4) return null;
  const number = payload.readUInt16LE(1);
  const text = payload.toString('latin1', 3, 3 + textLimit);
  // Server errors are 1000 to 1999 and from 3000 on.
  if (number < 1000 || number > 5999 || !/^[\x20-\x7e]+$/.test(text)) return null;
  return { service: 'mysql', evidence: [['mysql.error', `${number} ${text.replace(/^#[0-9A-Z]{5}/, '')}`]] };
}

/** ErrorResponse (fields of one letter and a NUL-terminated text), authentication request, or the SSLRequest reply. */
function parsePostgresql(bytes: Buffer, probe: string): DatabaseRecord | null {
  if (bytes.length === 1) {
    const agreed = bytes[0] === 0x53 || bytes[0] === 0x4e;
    return agreed && probe.startsWith('postgresql') ? { service: 'postgresql', evidence: [] } : null;
  }
  // The one-byte SSLRequest reply may come first.
  const skip =
    probe.startsWith('postgresql') && (bytes[0] === 0x53 || bytes[0] === 0x4e) && bytes.length > 5 ? 1 : 0;
  const message = bytes.subarray(skip);
  if (message.length < 9) return null;
  const length = message.readUInt32BE(1);
  if (message[0] === 0x52) {
    const request = message.readUInt32BE(5);
    if (length < 8 || length > 512 || request > 12) return null;
    // A server that checks the version replies to the old protocol without a length.
    const key = probe === 'postgresql-old' ? 'postgresql.blind-auth' : 'postgresql.auth';
    return { service: 'postgresql', evidence: [[key, `authentication request ${request}`]] };
  }
  return message[0] === 0x45 ? parseErrorResponse(message) : null;
}

function parseErrorResponse(message: Buffer): DatabaseRecord | null {
  // Servers before protocol 3 send the text right after the letter: "EFATAL:  unsupported frontend protocol".
  if (message.toString('latin1', 1, 7) === 'FATAL:') {
    const [text = '', next = ''] = message.toString('latin1', 1, 1 + textLimit).split('\0', 2);
    const evidence: DatabaseRecord['evidence'] = [['postgresql.error', text]];
    // A pooler appends its own error to the text of the server behind it.
    if (next.startsWith('E')) evidence.push(['postgresql.refusal', next.slice(1).trim()]);
    return { service: 'postgresql', evidence };
  }
  const end = Math.min(message.length, 1 + message.readUInt32BE(1));
  const fields = new Map<string, string>();
  let position = 5;
  while (position < end && message[position] !== 0 && fields.size < fieldLimit) {
    const stop = message.subarray(position, end).indexOf(0);
    if (stop === -1) break;
    const letter = String.fromCharCode(message[position] as number);
    fields.set(
      letter,
      message.toString('latin1', position + 1, Math.min(position + stop, position + textLimit)),
    );
    position += stop + 1;
  }
  const severity = fields.get('S');
  if (!severity || !/^[0-9A-Z]{5}$/.test(fields.get('C') ?? '')) return null;
  const text = `${fields.get('C')} ${fields.get('M') ?? ''}`;
  // PostgreSQL itself always sends source file and routine; poolers and proxies send no routine.
  const [file = '', routine] = [fields.get('F'), fields.get('R')];
  if (routine === undefined) return { service: 'postgresql', evidence: [['postgresql.refusal', text]] };
  const evidence: DatabaseRecord['evidence'] = [['postgresql.error', text]];
  if (file.endsWith('.go')) evidence.push(['postgresql.source', file]);
  return { service: 'postgresql', evidence };
}
