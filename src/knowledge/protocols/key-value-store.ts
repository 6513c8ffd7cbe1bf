import { firstLine } from './mailbox.ts';

/** Maximum length of an INFO response, characters. */
const infoLimit = 4096;

/** Response of a key-value store, by evidence key. */
export interface KeyValueRecord {
  service: 'redis' | 'memcached';
  evidence: [key: string, text: string][];
}

/**
 * Recognizes Redis (RESP: INFO bulk reply, `+PONG`, its error texts) and memcached (`VERSION`, `STAT`); null =
 * neither.
 */
export function parseKeyValueStore(bytes: Buffer): KeyValueRecord | null {
  return parseRedis(bytes) ?? parseMemcached(bytes);
}

function parseRedis(bytes: Buffer): KeyValueRecord | null {
  const head = bytes.toString('latin1', 0, infoLimit * 2);
  const line = firstLine(bytes);
  const info = head.indexOf('redis_version:');
  if (info !== -1 && /^[$=+-]/.test(line)) {
    const text = head.slice(Math.max(0, info - 64), info + infoLimit);
    return { service: 'redis', evidence: [['redis.info', text]] };
  }
  if (line === '+PONG') return { service: 'redis', evidence: [['redis.reply', line]] };
  const error =
    /^-(?:NOAUTH|DENIED Redis|NOPERM|WRONGPASS|MISCONF|LOADING|MASTERDOWN)\b/.test(line) ||
    /^-ERR (?:unknown command|wrong number of arguments|operation not permitted|Protocol error|max number of clients)/.test(
      line,
    );
  return error ? { service: 'redis', evidence: [['redis.reply', line]] } : null;
}

function parseMemcached(bytes: Buffer): KeyValueRecord | null {
  const head = bytes.toString('latin1', 0, infoLimit);
  const version =
    /^VERSION ([\w.-]{1,64})\r?\n/m.exec(head)?.[1] ?? /^STAT version ([\w.-]{1,64})\r?$/m.exec(head)?.[1];
  if (version && /^(?:VERSION|STAT|ERROR)\b/.test(head)) {
    return { service: 'memcached', evidence: [['memcached.version', version]] };
  }
  return null;
}
