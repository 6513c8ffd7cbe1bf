/** Modules of a listing and characters of a line that are kept. */
const moduleLimit = 50;
const lineLimit = 256;
/** Characters of an answer that are read. */
const answerLimit = 64 * 1024;

/** What an rsync daemon tells before anyone logs in. */
export interface RsyncRecord {
  /** Version of the protocol: `31.0` */
  version: string;
  /** Modules that it lists to strangers, each with its comment; null = it was not asked or did not answer. */
  modules: string[] | null;
}

/** Reads the greeting and the answer to `#list`; null = not rsync. */
export function parseRsync(bytes: Buffer): RsyncRecord | null {
  const [greeting = '', ...lines] = bytes.toString('latin1', 0, answerLimit).split('\n');
  const version = /^@RSYNCD: (\d{1,3}(?:\.\d{1,3})?)/.exec(greeting)?.[1];
  if (!version) return null;
  const end = lines.findIndex((line) => line.startsWith('@RSYNCD: EXIT'));
  if (end === -1) return { version, modules: null };
  // A module and its comment, with a tab between them; other lines are the message of the day.
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
