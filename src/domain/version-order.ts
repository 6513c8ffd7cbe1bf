/** Version schemes of products, and which of two versions is later. */
export type VersionScheme =
  | 'dotted'
  | 'openssh'
  | 'mariadb'
  | 'cisco_ios'
  | 'junos'
  | 'semver'
  | 'date'
  | 'deb'
  | 'rpm';

/** -1: the first is earlier; 1: it is later; null: not comparable, one side is not a version of this scheme. */
export type VersionOrder = -1 | 0 | 1 | null;

const schemes: Record<string, VersionScheme> = {
  'openbsd:openssh': 'openssh',
  'mariadb:mariadb': 'mariadb',
  'cisco:ios': 'cisco_ios',
  'juniper:junos': 'junos',
  'juniper:junos_os_evolved': 'junos',
  'minio:minio': 'date',
  'kubernetes:kubernetes': 'semver',
  'kubernetes:ingress-nginx': 'semver',
  'etcd:etcd': 'semver',
  'redhat:etcd': 'semver',
};

/** The version scheme of a product, by vendor and product of its CPE name. */
export function schemeOf(vendor: string, product: string): VersionScheme {
  const key = `${vendor}:${product}`;
  return Object.hasOwn(schemes, key) ? (schemes[key] ?? 'dotted') : 'dotted';
}

/** Maximum length of a version, characters; a longer text is not a version. */
const longestVersion = 1024;

/** Most digits of a number in a version that has a key. */
const longestNumber = 60;

/** Compares two versions of one product. Within a scheme the order of all readable versions is total. */
export function compareVersions(a: string, b: string, scheme: VersionScheme = 'dotted'): VersionOrder {
  if (a.length > longestVersion || b.length > longestVersion) return null;
  return comparators[scheme](a, b);
}

const comparators: Record<VersionScheme, (a: string, b: string) => VersionOrder> = {
  dotted: (a, b) => compareParsed(a, b, parseDotted),
  openssh: (a, b) => compareParsed(a, b, parseOpenssh),
  mariadb: (a, b) => compareParsed(plainMariadb(a), plainMariadb(b), parseDotted),
  cisco_ios: compareTrains,
  junos: compareJunos,
  semver: compareSemver,
  date: (a, b) => compareParsed(a, b, parseDate),
  deb: compareDeb,
  rpm: compareRpm,
};

/** Schemes whose order is the order of `versionKey`. */
export type KeyedVersionScheme = 'dotted' | 'openssh' | 'mariadb' | 'date';

const keyParsers: Record<KeyedVersionScheme, (text: string) => Part[] | null> = {
  dotted: parseDotted,
  openssh: parseOpenssh,
  mariadb: (text) => parseDotted(plainMariadb(text)),
  date: parseDate,
};

/**
 * A text of ASCII characters; its order by bytes is the order of `compareVersions`, and equal keys are equal versions.
 * @returns null for what is not a version of the scheme, and for longer numbers
 */
export function versionKey(text: string, scheme: KeyedVersionScheme): string | null {
  if (text.length > longestVersion) return null;
  const parts = keyParsers[scheme](text);
  if (
    parts === null ||
    parts.some(({ rank, text: digits }) => rank === numberRank && digits.length > longestNumber)
  )
    return null;
  return [...parts, end].map(partKey).join('');
}

/** A letter for the rank; digits follow their number, words end with a character before every letter. */
function partKey({ rank, text }: Part): string {
  const letter = String.fromCharCode(rankZero + rank);
  if (rank === numberRank) return `${letter}${String.fromCharCode(lengthZero + text.length)}${text}`;
  return rank === wordRank ? `${letter}${text} ` : letter;
}

// --- sequences of parts ---------------------------------------------------------------------------------------

/**
 * One part of a version. Parts are compared by rank first: a part before the plain end of a version (`rc`) ranks below
 * zero, the end itself is zero, a part after it ranks above.
 */
interface Part {
  rank: number;
  /** Digits without leading zeros, or a word; '' where the rank is sufficient. */
  text: string;
}

const end: Part = { rank: 0, text: '' };
const caretRank = 1;
const wordRank = 2;
const numberRank = 3;
const laterWordRank = 4;
/** Characters of keys: the rank 0, and the length 0. */
const rankZero = 0x68;
const lengthZero = 0x40;

function numberPart(digits: string): Part {
  return { rank: numberRank, text: withoutZeros(digits) };
}

function compareParsed(a: string, b: string, parse: (text: string) => Part[] | null): VersionOrder {
  const left = parse(a);
  const right = parse(b);
  return left && right ? compareParts(left, right) : null;
}

function compareParts(a: readonly Part[], b: readonly Part[]): -1 | 0 | 1 {
  const length = Math.max(a.length, b.length);
  for (let index = 0; index < length; index++) {
    const order = comparePart(a[index] ?? end, b[index] ?? end);
    if (order !== 0) return order;
  }
  return 0;
}

function comparePart(a: Part, b: Part): -1 | 0 | 1 {
  if (a.rank !== b.rank) return a.rank < b.rank ? -1 : 1;
  return a.rank === numberRank ? compareDigits(a.text, b.text) : compareText(a.text, b.text);
}

/** Numbers of any length: neither side has leading zeros, so the longer one is greater. */
function compareDigits(a: string, b: string): -1 | 0 | 1 {
  if (a.length !== b.length) return a.length < b.length ? -1 : 1;
  return compareText(a, b);
}

function compareText(a: string, b: string): -1 | 0 | 1 {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

function withoutZeros(digits: string): string {
  return digits.replace(/^0+(?=\d)/, '');
}

// --- dotted ---------------------------------------------------------------------------------------------------

/** Words for pre-releases, in their order. */
const earlierWords: Record<string, number> = {
  dev: -7,
  snapshot: -7,
  alpha: -6,
  milestone: -5,
  beta: -4,
  pre: -3,
  preview: -3,
  rc: -2,
  cr: -2,
};
/** Words that do not affect the order unless a number follows. */
const silentWords = new Set(['final', 'ga', 'release', 'stable', 'esv', 'lts', 'ce', 'ee']);
/** Other spellings of a patch level. */
const patchWords = new Set(['patch', 'patchlevel', 'pl']);

/**
 * Numbers separated by dots and the like, missing ones being zero. Letters after a number are later (OpenSSL 1.0.2k),
 * words for candidates are earlier (1.3.5rc1). Null when the text does not begin with a number.
 */
function parseDotted(text: string): Part[] | null {
  const plain = text
    .trim()
    .toLowerCase()
    .replace(/^v(?=\d)/, '');
  if (!/^\d[a-z0-9._()+~:, -]*$/.test(plain)) return null;
  const tokens = plain.match(/\d+|[a-z]+|[^a-z0-9]+/g) ?? [];
  const parts: Part[] = [];
  for (const [index, token] of tokens.entries()) {
    if (/^\d/.test(token)) parts.push(numberPart(token));
    else if (/^[a-z]/.test(token)) addWord(parts, token, tokens[index - 1] ?? '', tokens[index + 1] ?? '');
  }
  trimZeros(parts);
  return parts;
}

function addWord(parts: Part[], word: string, before: string, after: string): void {
  const numbered = /^\d/.test(after);
  if (silentWords.has(word) && !numbered) return;
  trimZeros(parts);
  const rank = earlierRank(word, before, numbered);
  if (rank !== null) parts.push({ rank, text: '' });
  else parts.push({ rank: wordRank, text: patchWords.has(word) ? 'p' : word });
}

function earlierRank(word: string, before: string, numbered: boolean): number | null {
  if (Object.hasOwn(earlierWords, word)) return earlierWords[word] ?? null;
  if (!numbered) return null;
  // 9.9.0a1 and 9.9.0b2 are candidates, 0.53b is a release; a milestone has a separator: 11.0.0-M5.
  if (word === 'a') return earlierWords['alpha'] ?? null;
  if (word === 'b') return earlierWords['beta'] ?? null;
  return word === 'm' && /^[-.]$/.test(before) ? (earlierWords['milestone'] ?? null) : null;
}

/** Trailing zeros do not matter: 1.0 equals 1.0.0. */
function trimZeros(parts: Part[]): void {
  for (let last = parts.at(-1); last?.rank === numberRank && last.text === '0'; last = parts.at(-1))
    parts.pop();
}

/** The first portable release equals the version itself: 9.2 is 9.2p1, and 9.2p2 is later. */
function parseOpenssh(text: string): Part[] | null {
  return parseDotted(text.trim().replace(/(?<=\d)p0*1$/i, ''));
}

/** Since version 10 MariaDB prefixes its version with `5.5.5-`, for old replicas, and appends its name. */
function plainMariadb(text: string): string {
  return text
    .trim()
    .replace(/^5\.5\.5-(?=\d+\.)/, '')
    .replace(/-(?:\d+-)?mariadb.*$/is, '');
}

// --- vendor-specific ------------------------------------------------------------------------------------------

const iosVersion = /^(\d+)\.(\d+)(?:\((\d+)([a-z]?)\)([a-z]*)(\d*)([a-z]?))?$/;

/** Cisco IOS: `15.2(4)M3` is release 15.2(4), train M, rebuild 3. Versions of different trains are not comparable. */
function compareTrains(a: string, b: string): VersionOrder {
  const left = iosVersion.exec(a.trim().toLowerCase());
  const right = iosVersion.exec(b.trim().toLowerCase());
  if (!left || !right || (left[5] ?? '') !== (right[5] ?? '')) return null;
  return compareParts(iosParts(left), iosParts(right));
}

function iosParts(match: RegExpExecArray): Part[] {
  const [, major = '', minor = '', maintenance = '', interim = '', , rebuild = '', letter = ''] = match;
  return [major, minor, maintenance, interim, rebuild, letter].map((text) => {
    if (text === '') return end;
    return /^\d/.test(text) ? numberPart(text) : { rank: wordRank, text };
  });
}

const junosVersion = /^(\d+)\.(\d+)(?:([a-z])(\d+))?(?:[.-]?([a-z])(\d+))?(?:[.-]([a-z]?)(\d+))?(?:-evo)?$/;

/** Junos: `18.4R2-S3`, `15.1X49-D60`. Each X release is a line of its own, not comparable with others. */
function compareJunos(a: string, b: string): VersionOrder {
  const left = junosVersion.exec(a.trim().toLowerCase());
  const right = junosVersion.exec(b.trim().toLowerCase());
  if (!left || !right) return null;
  const [one, other] = [junosLine(left), junosLine(right)];
  if (one !== other && left[1] === right[1] && left[2] === right[2]) return null;
  return compareParts(junosParts(left), junosParts(right));
}

function junosLine(match: RegExpExecArray): string {
  return match[3] === 'x' ? `x${match[4]}` : '';
}

function junosParts(match: RegExpExecArray): Part[] {
  return match.slice(1).map((text: string | undefined) => {
    if (!text) return end;
    return /^\d/.test(text) ? numberPart(text) : { rank: wordRank, text };
  });
}

const dateVersion =
  /^(?:[a-z]+[._-])?(\d{4})([-._]?)(\d{2})\2(\d{2})(?:[t_ -](\d{2})[-:]?(\d{2})(?:[-:]?(\d{2}))?z?)?$/;

/** `20240806`, `2024-08-06`, `RELEASE.2024-01-16T16-07-38Z`, `FreeBSD-20240806`. */
function parseDate(text: string): Part[] | null {
  const match = dateVersion.exec(text.trim().toLowerCase());
  if (!match) return null;
  const [, year = '', , month = '', day = '', hour = '0', minute = '0', second = '0'] = match;
  if (Number(month) < 1 || Number(month) > 12 || Number(day) < 1 || Number(day) > 31) return null;
  return [year, month, day, hour, minute, second].map(numberPart);
}

const semanticVersion =
  /^v?(\d+)(?:\.(\d+))?(?:\.(\d+))?(?:-([0-9a-z-]+(?:\.[0-9a-z-]+)*))?(?:\+[0-9a-z.-]+)?$/i;

/** Semantic Versioning 2.0.0, section 11; missing numbers are zero, as in bounds like `1.20`. */
function compareSemver(a: string, b: string): VersionOrder {
  const left = semanticVersion.exec(a.trim());
  const right = semanticVersion.exec(b.trim());
  if (!left || !right) return null;
  for (const index of [1, 2, 3]) {
    const order = compareDigits(withoutZeros(left[index] ?? '0'), withoutZeros(right[index] ?? '0'));
    if (order !== 0) return order;
  }
  return comparePrerelease(left[4], right[4]);
}

function comparePrerelease(a: string | undefined, b: string | undefined): -1 | 0 | 1 {
  if (a === undefined || b === undefined) {
    if (a === b) return 0;
    return a === undefined ? 1 : -1;
  }
  // Numbers before words, fewer identifiers before more.
  const parse = (text: string): Part[] =>
    text.split('.').map((id) => (/^\d+$/.test(id) ? numberPart(id) : { rank: laterWordRank, text: id }));
  return compareParts(parse(a), parse(b));
}

// --- dpkg -----------------------------------------------------------------------------------------------------

const debVersion = /^(?:(\d+):)?(\d[A-Za-z0-9.+~:-]*?)(?:-([A-Za-z0-9.+~]+))?$/;

/** Debian Policy, section 5.6.12: epoch, upstream version, revision; a tilde sorts before the end. */
function compareDeb(a: string, b: string): VersionOrder {
  const left = debVersion.exec(a.trim());
  const right = debVersion.exec(b.trim());
  if (!left || !right) return null;
  return (
    compareDigits(withoutZeros(left[1] ?? '0'), withoutZeros(right[1] ?? '0')) ||
    compareDebPart(left[2] ?? '', right[2] ?? '') ||
    compareDebPart(left[3] ?? '', right[3] ?? '')
  );
}

/** Alternating runs of other characters and digits: the former compare by character, the latter as numbers. */
function compareDebPart(a: string, b: string): -1 | 0 | 1 {
  const left = a.match(/\D*\d*/g) ?? [];
  const right = b.match(/\D*\d*/g) ?? [];
  const length = Math.max(left.length, right.length);
  for (let index = 0; index < length; index++) {
    const [one, other] = [splitRun(left[index] ?? ''), splitRun(right[index] ?? '')];
    const order = compareDebText(one.text, other.text) || compareDigits(one.digits, other.digits);
    if (order !== 0) return order;
  }
  return 0;
}

function splitRun(run: string): { text: string; digits: string } {
  const start = run.search(/\d/);
  if (start < 0) return { text: run, digits: '0' };
  return { text: run.slice(0, start), digits: withoutZeros(run.slice(start)) };
}

function compareDebText(a: string, b: string): -1 | 0 | 1 {
  const length = Math.max(a.length, b.length);
  for (let index = 0; index < length; index++) {
    const difference = debWeight(a[index]) - debWeight(b[index]);
    if (difference !== 0) return difference < 0 ? -1 : 1;
  }
  return 0;
}

/** Tilde, end, letters, everything else. */
function debWeight(character: string | undefined): number {
  if (character === undefined) return 0;
  if (character === '~') return -1;
  const code = character.charCodeAt(0);
  return /[A-Za-z]/.test(character) ? code : code + 256;
}

// --- rpm ------------------------------------------------------------------------------------------------------

const rpmVersion = /^(?:(\d+):)?([A-Za-z0-9._+~^]+)(?:-([A-Za-z0-9._+~^]+))?$/;
const rpmRanks: Record<string, number> = { '~': -1, '^': caretRank };

/** rpm-version(7): epoch, version, release; a missing release is the lowest, so that the order is total. */
function compareRpm(a: string, b: string): VersionOrder {
  const left = rpmVersion.exec(a.trim());
  const right = rpmVersion.exec(b.trim());
  if (!left || !right) return null;
  return (
    compareDigits(withoutZeros(left[1] ?? '0'), withoutZeros(right[1] ?? '0')) ||
    compareParts(rpmParts(left[2] ?? ''), rpmParts(right[2] ?? '')) ||
    compareParts(rpmParts(left[3] ?? ''), rpmParts(right[3] ?? ''))
  );
}

/** Tilde before the end, the end before a caret, a caret before letters, letters before numbers. */
function rpmParts(text: string): Part[] {
  return (text.match(/\d+|[A-Za-z]+|[~^]/g) ?? []).map((token) => {
    const rank = rpmRanks[token];
    if (rank !== undefined) return { rank, text: '' };
    return /^\d/.test(token) ? numberPart(token) : { rank: wordRank, text: token };
  });
}
