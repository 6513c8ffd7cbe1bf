/**
 * Measures what Portolan takes on a disk, `npm run size`: node_modules of a checkout, and the program as it is installed
 * from the tarball. Exit code 1 when one is larger than its limit. What is installed is counted as `du -m` does, in blocks
 * of the disk and MB of 2^20 bytes: a package of many small files takes more than their bytes.
 */
import { execFileSync } from 'node:child_process';
import { type Dirent, existsSync, lstatSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './program.ts';

interface Part {
  name: string;
  /** On the disk; of a file in the tarball, its length. */
  bytes: number;
}

interface Measure {
  subject: string;
  parts: Part[];
  /** What must not be exceeded, MB. */
  barMb: number;
}

/** A third of it is the Node.js that runs everything; the rest builds the Web UI, checks and tests. */
const checkoutMb = 590;
/** The bundled program with the Web UI, and two packages: koffi has native parts, and yaml is read in the sandbox of plugins. */
const programMb = 30;
const shownParts = 8;
/** Bytes, of `stat`. */
const diskBlock = 512;
/** Packages of Node.js itself. */
const isNode = /^node_modules\/node-linux-/;

const measures: Measure[] = [
  { subject: 'node_modules', parts: installedHere(), barMb: checkoutMb },
  {
    subject: 'the installed program, without Node.js',
    parts: [...packed(), ...dependencies()],
    barMb: programMb,
  },
];
for (const measure of measures) console.log(lineOf(measure));
process.exitCode = measures.some(({ parts, barMb }) => megabytes(parts) > barMb) ? 1 : 0;

/** The packages of node_modules, each with those inside it. */
function installedHere(): Part[] {
  return entriesOf('node_modules').flatMap(({ name }) => {
    const place = join('node_modules', name);
    // Caches of tools.
    if (name.startsWith('.')) return [];
    const places = name.startsWith('@') ? entriesOf(place).map((entry) => join(place, entry.name)) : [place];
    return places.map((path) => ({ name: path, bytes: bytesBelow(path) }));
  });
}

/** The content of the tarball, as a part per folder. */
function packed(): Part[] {
  // Its first step builds dist/ and writes about it; the list is the last thing that it writes.
  const output = execFileSync('npm', ['pack', '--dry-run', '--json'], {
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
    maxBuffer: 64 * 1024 * 1024,
  });
  const [{ files }] = JSON.parse(output.slice(output.search(/^\[/m))) as [
    { files: { path: string; size: number }[] },
  ];
  const folders = Map.groupBy(files, ({ path }) => path.split('/')[0] as string);
  return [...folders].map(([name, inside]) => ({ name, bytes: sum(inside.map(({ size }) => size)) }));
}

/** The packages that npm installs with the program on this machine. */
function dependencies(): Part[] {
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { dev?: boolean }>;
  };
  return Object.entries(lock.packages)
    .filter(([path, { dev }]) => path !== '' && !dev && !isNode.test(path) && existsSync(join(root, path)))
    .map(([path]) => ({ name: path, bytes: bytesBelow(path, 'node_modules') }));
}

function lineOf({ subject, parts, barMb }: Measure): string {
  const total = megabytes(parts);
  const verdict = total <= barMb ? 'ok' : 'above it';
  const largest = parts.toSorted((a, b) => b.bytes - a.bytes).slice(0, shownParts);
  const shown = largest.map((part) => `${megabytes([part]).toFixed(1).padStart(7)}  ${part.name}`);
  return [`${subject}: ${total.toFixed(1)} MB, bar ${barMb} MB: ${verdict}`, ...shown].join('\n');
}

function entriesOf(folder: string): Dirent[] {
  return readdirSync(join(root, folder), { withFileTypes: true });
}

/** @param without a folder that is left out, by its name: the packages inside a package are parts of their own */
function bytesBelow(folder: string, without?: string): number {
  const inside = entriesOf(folder).map((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return entry.name === without ? 0 : bytesBelow(path, without);
    return bytesOf(path);
  });
  return bytesOf(folder) + sum(inside);
}

function bytesOf(path: string): number {
  return lstatSync(join(root, path)).blocks * diskBlock;
}

function megabytes(parts: readonly Part[]): number {
  return sum(parts.map(({ bytes }) => bytes)) / 2 ** 20;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
