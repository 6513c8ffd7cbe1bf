interface Signature {
  state: string;
  publisher: string | null;
}

/** Who signed a plugin, or that nobody did; what is wrong with a signature. */
export function signatureWords({ state, publisher }: Signature): string {
  if (publisher === null) return state;
  return state === 'trusted' ? publisher : `${publisher} (${state})`;
}
