import { open, readdir, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { unpackTar } from 'modern-tar';
import { type FieldProblem, PortolanError } from '../../domain/errors.ts';
import { looksLikeRecog, parseRecog } from '../../knowledge/recog/recog-file.ts';
import {
  maxSignatures,
  type PlacedSignature,
  placeJsonSignatures,
  placeSignatures,
  rejection,
  triedProblems,
} from '../../knowledge/rules/signature-file.ts';
import type { Signature } from '../../knowledge/signatures/signature.ts';

/** Maximum size of a feed as downloaded or read, bytes. */
export const maxRuleFeedBytes = 32 * 1024 * 1024;

/** Maximum decompressed size of a feed, bytes. */
const maxUnpackedBytes = 64 * 1024 * 1024;

/** Maximum number of entries of an archive, and of files in a folder. */
const maxFeedFiles = 5000;

/** Longest work without yielding to the event loop, milliseconds. */
const longestStretch = 20;

/** A file with rules: its name appears in errors. */
export interface RuleText {
  name: string;
  text: string;
}

export interface CheckedRules {
  signatures: Signature[];
  /** Number of rules per file. */
  files: { file: string; signatures: number }[];
  /** Number of tested examples; all match. */
  examples: number;
}

/**
 * Parses and tests every rule of some texts: format, patterns, examples.
 * @param own accepted syntax of the native format: untrusted input must not be YAML, which takes minutes to parse for
 * some texts
 * @throws PortolanError `configuration` naming every problem of the first invalid text, with its position
 */
export async function checkRules(
  texts: readonly RuleText[],
  own: 'yaml' | 'json' = 'yaml',
): Promise<CheckedRules> {
  const placeOwn = own === 'yaml' ? placeSignatures : placeJsonSignatures;
  const byId = new Map<string, Signature>();
  const files: CheckedRules['files'] = [];
  let examples = 0;
  for (const { name, text } of texts) {
    const placed = looksLikeRecog(text) ? parseRecog(text, name) : placeOwn(text, name);
    const problems = await tryAll(placed);
    for (const { signature, place } of placed) {
      if (byId.has(signature.id))
        problems.push({ field: place, reason: `id "${signature.id}" is used twice` });
      byId.set(signature.id, signature);
      examples += signature.examples.length;
    }
    if (problems.length > 0) throw rejection(name, problems);
    files.push({ file: name, signatures: placed.length });
  }
  if (byId.size === 0) throw new PortolanError('configuration', 'it contains no fingerprint rules');
  if (byId.size > maxSignatures) {
    throw new PortolanError('configuration', `it contains more than ${maxSignatures} fingerprint rules`);
  }
  return { signatures: [...byId.values()], files, examples };
}

async function tryAll(placed: readonly PlacedSignature[]): Promise<FieldProblem[]> {
  const problems: FieldProblem[] = [];
  let since = performance.now();
  for (const each of placed) {
    problems.push(...triedProblems(each));
    if (performance.now() - since < longestStretch) continue;
    await setImmediate();
    since = performance.now();
  }
  return problems;
}

/** The rule files of a path: a file, an archive, or a folder. @throws PortolanError `usage`, `configuration` */
export async function readRulePath(path: string): Promise<RuleText[]> {
  try {
    if (!(await stat(path)).isDirectory()) return await unpackFeed(basename(path), await readCapped(path));
    const names = (await readdir(path)).filter((name) => /^[^.].*\.(?:xml|ya?ml|json)$/i.test(name)).sort();
    if (names.length > maxFeedFiles)
      throw new PortolanError('usage', `${path}: more than ${maxFeedFiles} files`);
    const texts: RuleText[] = [];
    for (const name of chosen(names)) {
      texts.push({ name, text: textOf(name, await readCapped(join(path, name))) });
    }
    return texts;
  } catch (error) {
    if (error instanceof PortolanError) throw error;
    const { code } = error as NodeJS.ErrnoException;
    throw new PortolanError('usage', `cannot read ${path}: ${code ?? String(error)}`, {}, error);
  }
}

async function readCapped(path: string): Promise<Buffer> {
  await using file = await open(path, 'r');
  const { size } = await file.stat();
  if (size > maxRuleFeedBytes) throw tooLarge(path, maxRuleFeedBytes);
  return file.readFile();
}

/** @throws PortolanError `configuration` if it exceeds the limits, is damaged, or contains no rule file */
export async function unpackFeed(name: string, bytes: Buffer): Promise<RuleText[]> {
  const plain = isGzip(bytes) ? await unzipped(name, bytes) : bytes;
  if (!isTar(plain)) return [{ name: name.replace(/\.gz$/i, ''), text: textOf(name, plain) }];
  const entries = await tarFiles(name, plain);
  const files = new Map(entries);
  const texts = chosen([...files.keys()]).map((file) => ({
    name: file,
    text: textOf(file, files.get(file) ?? Buffer.alloc(0)),
  }));
  if (texts.length === 0)
    throw new PortolanError('configuration', `${name} contains no file with fingerprint rules`);
  return texts;
}

/**
 * Selects the rule files of a folder or an archive. The Recog archive has its databases in a folder `xml`, beside
 * other files of the same kinds.
 */
function chosen(names: readonly string[]): string[] {
  const inFolder = names.filter((name) => /^(?:[^/]+\/)?xml\/[^/]+\.xml$/i.test(name));
  if (inFolder.length > 0) return inFolder.sort();
  const databases = names.filter((name) => /\.xml$/i.test(name));
  return (databases.length > 0 ? databases : names.filter((name) => /\.(?:ya?ml|json)$/i.test(name))).sort();
}

function isGzip(bytes: Buffer): boolean {
  return bytes[0] === 0x1f && bytes[1] === 0x8b;
}

function isTar(bytes: Buffer): boolean {
  return bytes.length >= 512 && bytes.toString('latin1', 257, 262) === 'ustar';
}

async function unzipped(name: string, bytes: Buffer): Promise<Buffer> {
  try {
    return await promisify(gunzip)(bytes, { maxOutputLength: maxUnpackedBytes });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge(`${name}, decompressed,`, maxUnpackedBytes);
    throw new PortolanError('configuration', `${name} is damaged: cannot decompress`, {}, error);
  }
}

async function tarFiles(name: string, bytes: Buffer): Promise<[string, Buffer][]> {
  let count = 0;
  const filter = (header: { name: string; type?: string }) => {
    if (++count > maxFeedFiles)
      throw new PortolanError('configuration', `${name}: more than ${maxFeedFiles} entries`);
    return header.type === 'file' && !/(?:^|\/)\./.test(header.name);
  };
  try {
    const entries = await unpackTar(bytes, { filter });
    return entries.map(({ header, data }) => [header.name, Buffer.from(data ?? [])]);
  } catch (error) {
    if (error instanceof PortolanError) throw error;
    throw new PortolanError('configuration', `${name} is damaged: the archive is incomplete`, {}, error);
  }
}

function textOf(name: string, bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new PortolanError('configuration', `${name}: not UTF-8 text`);
  }
}

function tooLarge(what: string, limit: number): PortolanError {
  return new PortolanError('configuration', `${what} is larger than ${limit} bytes`);
}
