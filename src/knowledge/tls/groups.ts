/** A key exchange group (IANA: TLS Supported Groups). */
export interface NamedGroup {
  id: number;
  name: string;
  /** Size of the field or prime, bits; for a hybrid that of its classical half. */
  bits: number;
  kind: 'ec' | 'ffdhe' | 'hybrid';
}

type Row = readonly [id: number, name: string, bits: number, kind?: NamedGroup['kind']];

const rows: readonly Row[] = [
  [0x001d, 'x25519', 255],
  [0x0017, 'secp256r1', 256],
  [0x0018, 'secp384r1', 384],
  [0x0019, 'secp521r1', 521],
  [0x001e, 'x448', 448],
  [0x11ec, 'X25519MLKEM768', 255, 'hybrid'],
  [0x11eb, 'SecP256r1MLKEM768', 256, 'hybrid'],
  [0x11ed, 'SecP384r1MLKEM1024', 384, 'hybrid'],
  [0x6399, 'X25519Kyber768Draft00', 255, 'hybrid'],
  [0x0100, 'ffdhe2048', 2048, 'ffdhe'],
  [0x0101, 'ffdhe3072', 3072, 'ffdhe'],
  [0x0102, 'ffdhe4096', 4096, 'ffdhe'],
  [0x0103, 'ffdhe6144', 6144, 'ffdhe'],
  [0x0104, 'ffdhe8192', 8192, 'ffdhe'],
  [0x001a, 'brainpoolP256r1', 256],
  [0x001b, 'brainpoolP384r1', 384],
  [0x001c, 'brainpoolP512r1', 512],
  [0x001f, 'brainpoolP256r1tls13', 256],
  [0x0020, 'brainpoolP384r1tls13', 384],
  [0x0021, 'brainpoolP512r1tls13', 512],
  [0x0016, 'secp256k1', 256],
  [0x0015, 'secp224r1', 224],
  [0x0014, 'secp224k1', 224],
  [0x0013, 'secp192r1', 192],
  [0x0012, 'secp192k1', 192],
  [0x0011, 'secp160r2', 160],
  [0x0010, 'secp160r1', 160],
  [0x000f, 'secp160k1', 160],
  [0x000e, 'sect571r1', 571],
  [0x000d, 'sect571k1', 571],
  [0x000c, 'sect409r1', 409],
  [0x000b, 'sect409k1', 409],
  [0x000a, 'sect283r1', 283],
  [0x0009, 'sect283k1', 283],
  [0x0008, 'sect239k1', 239],
  [0x0007, 'sect233r1', 233],
  [0x0006, 'sect233k1', 233],
  [0x0005, 'sect193r2', 193],
  [0x0004, 'sect193r1', 193],
  [0x0003, 'sect163r2', 163],
  [0x0002, 'sect163r1', 163],
  [0x0001, 'sect163k1', 163],
];

/** Known groups, the most common first. */
export const namedGroups: ReadonlyMap<number, NamedGroup> = new Map(
  rows.map(([id, name, bits, kind = 'ec']) => [id, { id, name, bits, kind }]),
);

const byName = new Map([...namedGroups.values()].map((group) => [group.name, group]));

export function groupNamed(name: string): NamedGroup | null {
  return byName.get(name) ?? null;
}

/** `0x1337` for an unknown group. */
export function groupName(id: number): string {
  return namedGroups.get(id)?.name ?? `0x${id.toString(16).padStart(4, '0')}`;
}

/** Curves for handshakes up to TLS 1.2. */
export const curveIds: readonly number[] = [...namedGroups.values()]
  .filter(({ kind, id }) => kind === 'ec' && (id < 0x1f || id > 0x21))
  .map(({ id }) => id);

/** Groups for TLS 1.3 (RFC 8446, 4.2.7), including post-quantum hybrids. */
export const groupIdsOf13: readonly number[] = [...namedGroups.values()]
  .filter(({ kind, id }) => kind !== 'ec' || (id >= 0x17 && id <= 0x21 && (id < 0x1a || id > 0x1c)))
  .map(({ id }) => id);
