/** Maximum length of a text if the protocol sets no other limit, characters. */
const plainTextLimit = 512;

/** Printable ASCII of a target's text: any other run becomes one space; both ends are trimmed. */
export function plainText(text: string, limit = plainTextLimit): string {
  return text
    .replace(/[^\x20-\x7e]+/g, ' ')
    .trim()
    .slice(0, limit);
}
