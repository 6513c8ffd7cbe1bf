/** Longest `Accept` header that is read, characters; Prometheus sends about 200. */
const maxAccept = 1000;

/** Versions of OpenMetrics that 1.0 serves. */
const openMetrics = /^application\/openmetrics-text$/i;
const plainText = /^(?:text\/plain|text\/\*|\*\/\*)$/i;

/**
 * Whether a client prefers OpenMetrics 1.0 to the text format (RFC 9110 section 12.5.1). Without a preference it gets
 * the text format.
 */
export function prefersOpenMetrics(accept: string | undefined): boolean {
  if (accept === undefined || accept.length > maxAccept) return false;
  const ranges = accept.split(',').map(rangeOf);
  const best = (fits: (range: MediaRange) => boolean) =>
    Math.max(0, ...ranges.filter(fits).map(({ quality }) => quality));
  const requested = best(({ type, version }) => openMetrics.test(type) && (version ?? '1.0.0') === '1.0.0');
  return requested > 0 && requested >= best(({ type }) => plainText.test(type));
}

interface MediaRange {
  type: string;
  version: string | null;
  /** 0..1 */
  quality: number;
}

function rangeOf(text: string): MediaRange {
  const [type = '', ...parameters] = text.split(';').map((part) => part.trim());
  const valueOf = (name: string) =>
    parameters.find((parameter) => parameter.toLowerCase().startsWith(`${name}=`))?.slice(name.length + 1);
  const version = valueOf('version')?.replaceAll('"', '') ?? null;
  const quality = Number(valueOf('q') ?? 1);
  return { type, version, quality: quality >= 0 && quality <= 1 ? quality : 0 };
}
