/** Approximate chunk size of text, characters. */
const pieceLength = 64 * 1024;

/** The same text in fewer, larger chunks. The first text is sent at once, so that a reader sees the start early. */
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
