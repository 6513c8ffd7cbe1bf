import { X509Certificate } from 'node:crypto';
import { getCACertificates } from 'node:tls';

/** Certificates of a path that are followed. */
const pathLimit = 10;

/** Roots by their subject. */
export type Roots = ReadonlyMap<string, readonly X509Certificate[]>;

/** What is wrong with the list of certificates that a server sends (RFC 5246, 7.4.2). */
export type ChainFlaw = 'wrong-order' | 'missing-issuer';

export interface ChainFacts {
  /**
   * `public`: a root of the list that Node.js brings along (that of Mozilla) vouches for the certificate, through what the
   * server sent. `unknown`: none does, as far as was sent. Dates and names do not matter here.
   */
  authority: 'public' | 'unknown';
  chain_flaws: ChainFlaw[];
}

let publicRoots: Roots | null = null;

/** The roots of the public authorities, read when they are first asked for. */
function usualRoots(): Roots {
  publicRoots ??= rootsOf(getCACertificates('bundled').map((pem) => new X509Certificate(pem)));
  return publicRoots;
}

export function rootsOf(certificates: readonly X509Certificate[]): Roots {
  return Map.groupBy(certificates, ({ subject }) => subject);
}

/** Looks at the readable certificates that a server sent, in its order, its own first. */
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
  // Who is signed by a root straight need not send it; only authorities with others below them say where to fetch theirs.
  const lacking =
    leaf.issuer !== leaf.subject &&
    !others.some(isKnown) &&
    !roots.has(leaf.issuer) &&
    /^CA Issuers/m.test(leaf.infoAccess ?? '');
  return [...(misplaced ? ['wrong-order' as const] : []), ...(lacking ? ['missing-issuer' as const] : [])];
}

/** From the server's certificate to the last one whose issuer was sent, by names alone. */
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
 * From a root down: only keys that were vouched for themselves verify anything, so that no key of a stranger decides how
 * long it takes.
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
