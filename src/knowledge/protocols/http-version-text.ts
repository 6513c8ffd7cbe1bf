/** Length of one excerpt, characters. */
const pieceLength = 160;
/** Characters of an excerpt before its keyword. */
const lead = 48;

/** Lower-case keywords near which pages name their software, and the maximum number of excerpts for each. */
const marks = [
  ['<meta name', 20],
  ['<meta id', 4],
  ['version', 12],
  ['(build ', 4],
] as const;

/**
 * Excerpts in which a page may name its product and version, one per line: `meta` tags and the text around "version"
 * and "(Build". Long pages have them far beyond the part that is matched as a whole.
 */
export function versionText(page: string): string {
  const lower = page.toLowerCase();
  const pieces: string[] = [];
  for (const [mark, limit] of marks) {
    const most = pieces.length + limit;
    const before = mark.startsWith('<') ? 0 : lead;
    let at = lower.indexOf(mark);
    while (at !== -1 && pieces.length < most) {
      const start = Math.max(0, at - before);
      const end = before === 0 ? endOfTag(page, at) : start + pieceLength;
      const piece = page.slice(start, end).replace(/\s+/g, ' ');
      // An excerpt without a number has no version; a tag may still name the product.
      if (before === 0 || /\d\.\d/.test(piece)) pieces.push(piece);
      at = lower.indexOf(mark, end);
    }
  }
  return pieces.join('\n');
}

function endOfTag(page: string, at: number): number {
  const end = page.indexOf('>', at);
  return end === -1 || end - at > pieceLength ? at + pieceLength : end + 1;
}
