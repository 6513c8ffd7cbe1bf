/** Modules of a listing. */
const moduleLimit = 50;
/** Maximum length of a line, characters. */
const lineLimit = 256;
/** Maximum length of a response, characters. */
const responseLimit = 64 * 1024;

/** Response of an rsync daemon before any login. */
export interface RsyncRecord {
  /** Protocol version: `31.0` */
  version: string;
  /** Modules listed without a login, each with its comment; null = not requested or no response. */
  modules: string[] | null;
}

/** Reads the greeting and the response to `#list`; null = not rsync. */
export function parseRsync(bytes: Buffer): RsyncRecord | null {
  const [greeting = '', ...lines] = bytes.toString('latin1', 0, responseLimit).split('\n');
  const version = /^@RSYNCD: (\d{1,3}(?:\.\d{1,3})?)/.exec(greeting)?.[1];
  if (!version) return null;
  const end = lines.findIndex((line) => line.startsWith('@RSYNCD: EXIT'));
  if (end === -1) return { version, modules: null };
  // Module, tab, comment; other lines are the message of the day.
  const modules = lines
    .slice(0, end)
    .filter((line) => /^[^\s\t][^\t]{0,255}\t/.test(line))
    .slice(0, moduleLimit)
    .map((line) =>
      line
        .slice(0, lineLimit)
        .replace(/(?<!\s)\s*\t/, ': ')
        .trimEnd(),
    );
  return { version, modules };
}
