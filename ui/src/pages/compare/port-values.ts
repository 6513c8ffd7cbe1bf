/** What a scan says of a service; every text is the target's. */
export interface PortValues {
  state: string;
  service: string | null;
  product: string | null;
  version: string | null;
}

/** A value before and after. */
export interface ValueChange {
  /** Of what: the product, `service`, `state`. */
  label: string;
  before: string;
  after: string;
}

/** `OpenSSH 9.2p1`, else what kind of service it is. */
export function productText({ product, version, service }: PortValues): string {
  return (
    [product, version].filter((part) => part !== null && part !== '').join(' ') ||
    (service ?? 'not recognized')
  );
}

/** The value that says most of what changed; null if none of them did. */
export function differenceOf(before: PortValues, after: PortValues): ValueChange | null {
  const product = after.product ?? '';
  if (before.product !== after.product)
    return { label: 'product', before: productText(before), after: productText(after) };
  if (before.version !== after.version)
    return {
      label: product || 'version',
      before: before.version ?? 'not known',
      after: after.version ?? 'not known',
    };
  if (before.service !== after.service)
    return {
      label: 'service',
      before: before.service ?? 'not recognized',
      after: after.service ?? 'not recognized',
    };
  return before.state === after.state ? null : { label: 'state', before: before.state, after: after.state };
}
