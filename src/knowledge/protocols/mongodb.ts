/** Elements of one document. */
const elementLimit = 64;
/** Maximum length of one text, characters. */
const textLimit = 256;
/** Messages of one connection. */
const messageLimit = 4;
/** Maximum number of database names. */
const databaseLimit = 20;

const opMsg = 2013;

/** Responses of a MongoDB server to commands without a login. */
export interface MongoRecord {
  /** From `buildInfo`, which needs no login. */
  version: string | null;
  /** Database names, if listing needs no login; null = rejected or not requested. */
  databases: string[] | null;
  /** Error of a rejected command: `Unauthorized`. */
  refusal: string | null;
}

/** Reads the responses (OP_MSG of the MongoDB wire protocol) of one connection; null = not MongoDB. */
export function parseMongodb(bytes: Buffer): MongoRecord | null {
  const record: MongoRecord = { version: null, databases: null, refusal: null };
  let at = 0;
  let messages = 0;
  while (messages < messageLimit && bytes.length - at >= 26) {
    const length = bytes.readUInt32LE(at);
    // Header of 16 bytes, flags of 4, then one section of kind 0: a document.
    if (length < 26 || bytes.readUInt32LE(at + 12) !== opMsg || bytes[at + 20] !== 0) break;
    const document = readDocument(bytes.subarray(at + 21, at + length));
    if (document) addDocument(record, document);
    messages += 1;
    at += length;
  }
  return messages === 0 ? null : record;
}

function addDocument(record: MongoRecord, document: Map<string, Value>): void {
  const [version, databases, code] = ['version', 'databases', 'codeName'].map((name) => document.get(name));
  if (typeof version === 'string') record.version = version;
  if (document.get('ok') === 1 && databases instanceof Map) record.databases = databaseNames(databases);
  if (document.get('ok') === 0) record.refusal = typeof code === 'string' ? code : 'refused';
}

function databaseNames(databases: Map<string, Value>): string[] {
  const names: string[] = [];
  for (const database of databases.values()) {
    const name = database instanceof Map ? database.get('name') : undefined;
    if (typeof name === 'string' && names.length < databaseLimit) names.push(name);
  }
  return names;
}

type Value = string | number | boolean | null | Map<string, Value>;

/** Maximum nesting: the response, a list in it, an entry of the list. */
const depthLimit = 3;

/** Reads a BSON document (bsonspec.org) as far as it is complete; null = not a document. */
function readDocument(bytes: Buffer, depth = 0): Map<string, Value> | null {
  if (bytes.length < 5) return null;
  const end = Math.min(bytes.length, bytes.readUInt32LE(0));
  const document = new Map<string, Value>();
  for (let at = 4; at < end && bytes[at] !== 0 && document.size < elementLimit; ) {
    const stop = bytes.subarray(at + 1, Math.min(end, at + 1 + textLimit)).indexOf(0);
    if (stop === -1) break;
    const name = bytes.toString('latin1', at + 1, at + 1 + stop);
    const element = readValue(bytes[at] as number, bytes.subarray(at + 2 + stop, end), depth);
    if (!element) break;
    document.set(name, element.value);
    at += 2 + stop + element.length;
  }
  return document;
}

/** Sizes in bytes of values to skip: identifier, date, timestamp, 64-bit number, decimal. */
const passedOver: Record<number, number> = { 0x07: 12, 0x09: 8, 0x11: 8, 0x12: 8, 0x13: 16 };

function readValue(type: number, bytes: Buffer, depth: number): { value: Value; length: number } | null {
  switch (type) {
    case 0x01:
      return bytes.length < 8 ? null : { value: bytes.readDoubleLE(0), length: 8 };
    case 0x02: {
      if (bytes.length < 5) return null;
      const length = bytes.readUInt32LE(0);
      if (length < 1 || length > bytes.length - 4) return null;
      return { value: bytes.toString('latin1', 4, 3 + Math.min(length, textLimit)), length: 4 + length };
    }
    case 0x03:
    case 0x04:
      return bytes.length < 5 ? null : nested(bytes, depth);
    case 0x05:
      return bytes.length < 5 ? null : { value: null, length: 5 + bytes.readUInt32LE(0) };
    case 0x08:
      return bytes.length < 1 ? null : { value: bytes[0] === 1, length: 1 };
    case 0x0a:
      return { value: null, length: 0 };
    case 0x10:
      return bytes.length < 4 ? null : { value: bytes.readInt32LE(0), length: 4 };
    default: {
      const length = passedOver[type];
      return length === undefined ? null : { value: null, length };
    }
  }
}

function nested(bytes: Buffer, depth: number): { value: Value; length: number } | null {
  const length = bytes.readUInt32LE(0);
  if (length < 5) return null;
  const value = depth < depthLimit ? readDocument(bytes.subarray(0, length), depth + 1) : null;
  return { value, length };
}
