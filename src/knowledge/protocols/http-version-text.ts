/** Characters of one piece. */
const pieceLength = 160;
/** Characters of a piece that stand before the word that marks it. */
const lead = 48;

/** Words near which pages state what they are made by, lower case, and how many of each are kept of one page. */
const marks = [
  ['<meta name', 20],
  ['<meta id', 4],
  ['version', 12],
  ['(build ', 4],
] as const;

/**
 * Where a page may tell its product and version, a piece each line: tags of `meta`, and what stands around the words
 * "version" and "(Build". Long pages have them far behind what is looked at as a whole.
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
      // A piece without a digit states no version; tags may name the product.
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
