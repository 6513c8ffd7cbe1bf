/** Characters kept of a text where a protocol sets no limit of its own. */
const plainTextLimit = 512;

/** Printable ASCII of what a target sent: each run of anything else becomes one space, none at the ends. */
export function plainText(text: string, limit = plainTextLimit): string {
  return text
    .replace(/[^\x20-\x7e]+/g, ' ')
    .trim()
    .slice(0, limit);
}
