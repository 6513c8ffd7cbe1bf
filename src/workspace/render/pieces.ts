/** Text is handed on in pieces of about so many characters. */
const pieceLength = 64 * 1024;

/** The same text in fewer, larger pieces. The first text goes out at once: a reader learns soon that it begins. */
export async function* inPieces(texts: AsyncIterable<string>): AsyncGenerator<string> {
  let piece = '';
  let begun = false;
  for await (const text of texts) {
    piece += text;
    if (begun && piece.length < pieceLength) continue;
    begun = true;
    yield piece;
    piece = '';
  }
  if (piece !== '') yield piece;
}
