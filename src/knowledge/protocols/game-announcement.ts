import { plainText } from './plain-text.ts';
import { type RecognizedService, recognizedBy } from './recognized-service.ts';

/** Maximum length of a text, characters. */
const textLimit = 512;

/** Prefix of messages of Quake-derived games. */
const quakeMark = '\xff\xff\xff\xff';

/** Response to `getstatus` or `status`: settings as `\name\value`, on the second line or after `n`. */
export function readQuake(bytes: Buffer): RecognizedService | null {
  const text = bytes.toString('latin1', 0, 4096);
  const settings = /^(?:statusResponse\n|print\n|n)(\\[^\n\0]{1,4000})/.exec(text.slice(4))?.[1];
  if (!text.startsWith(quakeMark) || settings === undefined) return null;
  const values = new Map<string, string>();
  for (const [, name = '', value = ''] of settings.matchAll(/\\([^\\]{1,64})\\([^\\]{0,128})/g))
    values.set(name.toLowerCase(), plainText(value));
  const evidence: RecognizedService['evidence'] = [];
  for (const name of ['version', 'shortversion', '*version', 'gamename']) {
    const value = values.get(name);
    if (value) evidence.push([`quake.${name.replace(/^\*?(?:short)?/, '')}`, value]);
  }
  return { service: 'quake', evidence, proof: evidence[0]?.[1] ?? 'a status of Quake' };
}

/** A2S_INFO: protocol, then name, map, folder and game, NUL-terminated; or a challenge to repeat. */
export function readSourceEngine(bytes: Buffer): RecognizedService | null {
  if (bytes.length < 9 || bytes.toString('latin1', 0, 4) !== quakeMark) return null;
  if (bytes[4] === 0x41 && bytes.length === 9)
    return { service: 'source-engine', evidence: [], proof: 'a challenge of the Source engine' };
  if (bytes[4] !== 0x49) return null;
  const [, , folder = '', game = ''] = bytes
    .toString('latin1', 6, 1400)
    .split('\0')
    .map((part) => plainText(part));
  if (game === '' && folder === '') return null;
  return recognizedBy('source-engine', 'source.game', game || folder);
}

const raknetMagic = '00ffff00fefefefefdfdfdfd12345678';

/** RakNet pong: time, id, magic number, and a text with fields separated by semicolons. */
export function readBedrock(bytes: Buffer): RecognizedService | null {
  if (bytes.length < 35 || bytes[0] !== 0x1c || bytes.toString('hex', 17, 33) !== raknetMagic) return null;
  const text = plainText(bytes.toString('latin1', 35, 35 + Math.min(bytes.readUInt16BE(33), textLimit)));
  const [edition = '', , , version = ''] = text.split(';');
  const isGame = /^MC[A-Z]{2}$/.test(edition);
  const evidence: RecognizedService['evidence'] = isGame ? [['minecraft.bedrock', version]] : [];
  return { service: isGame ? 'minecraft' : 'raknet', evidence, proof: text || 'a pong of RakNet' };
}

/** Teeworlds: the server description with its version (up to 0.6), or a token reply to the client token (since 0.7). */
export function readTeeworlds(bytes: Buffer): RecognizedService | null {
  const text = bytes.toString('latin1', 0, 1400);
  const version = /^\xff{10}inf3\d{1,8}\0([^\0]{1,64})\0/.exec(text)?.[1];
  if (version !== undefined) return recognizedBy('teeworlds', 'teeworlds.version', plainText(version));
  if (!/^\x04\0\0PORT\x05[^]{4}/.test(text)) return null;
  return recognizedBy('teeworlds', 'teeworlds.token', '0.7', 'a token of Teeworlds');
}

/** Minetest: its protocol id, the server as sender, and the peer id it assigns. */
export function readMinetest(bytes: Buffer): RecognizedService | null {
  if (bytes.length < 12 || !bytes.toString('hex', 0, 6).startsWith('4f45740300')) return null;
  return recognizedBy('minetest', 'minetest.answer', 'peer', 'a peer number of Minetest');
}
