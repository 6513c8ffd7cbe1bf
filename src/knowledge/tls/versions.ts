/** Protocol versions as named in results, oldest first. SSL 2.0 has a different handshake. */
export const tlsVersions = ['SSLv3', 'TLSv1.0', 'TLSv1.1', 'TLSv1.2', 'TLSv1.3'] as const;
export type TlsVersion = (typeof tlsVersions)[number];

/** `0x0300` is SSL 3.0, `0x0304` TLS 1.3. */
export function versionCode(version: TlsVersion): number {
  return 0x0300 + tlsVersions.indexOf(version);
}
