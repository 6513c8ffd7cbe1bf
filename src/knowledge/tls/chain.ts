import { X509Certificate } from 'node:crypto';
import { getCACertificates } from 'node:tls';

/** Maximum number of certificates in a path. */
const pathLimit = 10;

/** Roots by their subject. */
export type Roots = ReadonlyMap<string, readonly X509Certificate[]>;

/** Flaws of the certificate list that a server sends (RFC 5246, 7.4.2). */
export type ChainFlaw = 'wrong-order' | 'missing-issuer';

export interface ChainFacts {
  /**
   * `public`: the certificate chains to a root in the list bundled with Node.js (Mozilla's), through the certificates
   * sent. `unknown`: it does not. Ignores dates and names.
   */
  authority: 'public' | 'unknown';
  chain_flaws: ChainFlaw[];
}

let publicRoots: Roots | null = null;

/** The roots of the public authorities, loaded on first use. */
function usualRoots(): Roots {
  publicRoots ??= rootsOf(getCACertificates('bundled').map((pem) => new X509Certificate(pem)));
  return publicRoots;
}

export function rootsOf(certificates: readonly X509Certificate[]): Roots {
  return Map.groupBy(certificates, ({ subject }) => subject);
}

/** Evaluates the readable certificates of a server in the order sent, the server's own first. */
export function examineChain(chain: readonly X509Certificate[], roots: Roots = usualRoots()): ChainFacts {
  const [leaf, ...others] = chain;
  if (!leaf) return { authority: 'unknown', chain_flaws: [] };
  const path = pathFrom(leaf, others);
  return { authority: isVouchedFor(path, roots) ? 'public' : 'unknown', chain_flaws: flawsIn(chain, roots) };
}

function flawsIn(chain: readonly X509Certificate[], roots: Roots): ChainFlaw[] {
  const [leaf, ...others] = chain as [X509Certificate, ...X509Certificate[]];
  const misplaced = others.some(({ subject }, at) => chain[at]?.issuer !== subject);
  const isKnown = ({ subject }: X509Certificate) => subject === leaf.issuer;
  // A server may omit the root; a CA Issuers URL in the leaf points to an intermediate.
  const lacking =
    leaf.issuer !== leaf.subject &&
    !others.some(isKnown) &&
    !roots.has(leaf.issuer) &&
    /^CA Issuers/m.test(leaf.infoAccess ?? '');
  return [...(misplaced ? ['wrong-order' as const] : []), ...(lacking ? ['missing-issuer' as const] : [])];
}

/** From the server's certificate to the last one whose issuer was sent, matched by name only. */
function pathFrom(leaf: X509Certificate, others: readonly X509Certificate[]): X509Certificate[] {
  const path = [leaf];
  while (path.length < pathLimit) {
    const last = path.at(-1) as X509Certificate;
    const next = others.find((each) => each.subject === last.issuer && !path.includes(each));
    if (!next) break;
    path.push(next);
  }
  return path;
}

/**
 * Verifies from a root down: only keys that are already trusted verify a signature, so an untrusted key cannot
 * determine the processing time.
 */
function isVouchedFor(path: readonly X509Certificate[], roots: Roots): boolean {
  for (let top = 0; top < path.length; top++) {
    const highest = path[top] as X509Certificate;
    const root = roots.get(highest.issuer)?.find((each) => isSignedBy(highest, each));
    if (!root) continue;
    const links = path.slice(0, top).map((lower, at) => [lower, path[at + 1] as X509Certificate] as const);
    if (links.reverse().every(([lower, upper]) => isSignedBy(lower, upper))) return true;
  }
  return false;
}

function isSignedBy(certificate: X509Certificate, issuer: X509Certificate): boolean {
  try {
    return certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey);
  } catch {
    return false;
  }
}
