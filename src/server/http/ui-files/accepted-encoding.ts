/** Encodings that built files have beside them, best first, by the end of their names. */
export const encodings = { br: '.br', gzip: '.gz' } as const;
export type Encoding = keyof typeof encodings;

/** Encodings that a client accepts (RFC 9110, 12.5.3), in the order in which they are to be tried. */
export function acceptedEncodings(header: string | undefined): Encoding[] {
  if (header === undefined) return [];
  const qualities = new Map(header.split(',').map(qualityOf));
  const accepts = (name: Encoding) => (qualities.get(name) ?? qualities.get('*') ?? 0) > 0;
  return (Object.keys(encodings) as Encoding[]).filter(accepts);
}

function qualityOf(part: string): [name: string, quality: number] {
  const [name = '', ...parameters] = part.split(';').map((text) => text.trim().toLowerCase());
  const quality = parameters.find((text) => text.startsWith('q='));
  return [name, quality === undefined ? 1 : Number(quality.slice(2)) || 0];
}
