/** The anchor of a host or of one of its ports. */
export function anchorOf(host: string, port: number | null = null, protocol: string | null = null): string {
  const place = port === null ? '' : `-${port}-${protocol}`;
  // Letters, digits and hyphens only: addresses stay unique, and nothing needs escaping.
  return `h-${host.replace(/[^\w-]/g, (character) => `-${character.charCodeAt(0).toString(16)}-`)}${place}`;
}
