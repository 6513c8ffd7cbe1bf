/**
 * One word for one thing, see docs/glossary.md: what the words were before does not come back in a name that others
 * read. Names are split at `-`, `_`, `.` and case humps.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { configKeys } from '../src/config/schema.ts';
import { root } from './program.ts';

/** A word that is not used, and the one to use. */
const banned: Record<string, string> = {
  answer: 'response',
  answers: 'responses',
  answered: 'responded',
  answering: 'responding',
  question: 'probe, request',
  questions: 'probes, requests',
  knock: 'ping',
  interview: 'probe session',
  dialogue: 'probe session',
  survey: 'enumeration',
  proof: 'evidence',
  proofs: 'evidence',
  liar: 'tarpit',
  tell: 'notify, report',
  tells: 'notifies, reports',
  told: 'notified, reported',
  news: 'event, report',
  hear: 'receive',
  hearer: 'receiver',
  hearing: 'receiving',
  slip: 'message',
  slips: 'messages',
  division: 'shard plan',
  divisions: 'shard plans',
  obey: 'acknowledge, apply',
  obeyed: 'acknowledged, applied',
  lay: 'apply',
  laid: 'applied',
  settle: 'finalize',
  settled: 'finalized',
  owed: 'pending',
  stray: 'uncaught error',
  strays: 'uncaught errors',
  recall: 'restore',
  tidy: 'purge, expire',
  forget: 'purge, expire',
  mend: 'repair',
  care: 'maintenance',
  patience: 'timeout',
  pace: 'interval',
  elsewhere: 'remote',
  licence: 'license',
  licences: 'licenses',
  catalogue: 'catalog',
  neighbour: 'neighbor',
  neighbours: 'neighbors',
  colour: 'color',
  behaviour: 'behavior',
  refusal: 'rejection',
  refuse: 'reject',
  demand: 'require',
  demands: 'requires',
  wish: 'request',
  judge: 'evaluate',
  judged: 'evaluated',
  walk: 'permutation, iterator',
  remark: 'warning, notice',
  figures: 'statistics, counters',
  intake: 'ingest',
  mirror: 'upload',
  lapse: 'lease expired',
  closure: 'blackout window',
};

/** Names with such a word that stay, and why. */
const allowed: Record<string, string> = {
  catalogue_version: 'a field of the contract',
  questionName: 'RFC 1035 calls it a question',
};

/** Folders whose inner names stay until scale-out replaces them. */
const untouched = ['src/server/shards/', 'src/worker/', 'src/server/results/', 'src/queue/'];

const files = execFileSync('git', ['ls-files', 'src', 'test', 'bench', 'ui'], { cwd: root, encoding: 'utf8' })
  .trim()
  .split('\n')
  .filter((file) => /(?<!\.d)\.tsx?$/.test(file) && !file.includes('/gen/'))
  .filter((file) => !untouched.some((folder) => file.startsWith(folder)));

function wordsOf(name: string): string[] {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .split(/[^A-Za-z]+/)
    .map((word) => word.toLowerCase());
}

/** @returns what is wrong, a line each */
function wrong(names: { name: string; where: string }[]): string[] {
  return names
    .filter(({ name }) => allowed[name] === undefined)
    .flatMap(({ name, where }) =>
      wordsOf(name)
        .filter((word) => Object.hasOwn(banned, word))
        .map((word) => `${name} (${where}): ${banned[word]} instead of ${word}`),
    );
}

const text = (file: string) => readFileSync(join(root, file), 'utf8');
const matches = (file: string, pattern: RegExp) =>
  [...text(file).matchAll(pattern)].map(([, name = '']) => ({ name, where: file }));

describe('the words of the glossary hold in', () => {
  it('file names', () => {
    expect(
      wrong(files.map((file) => ({ name: basename(file).replace(/\.tsx?$/, ''), where: file }))),
    ).toEqual([]);
  });

  it('exported names', () => {
    const pattern =
      /^export (?:default )?(?:abstract )?(?:async )?(?:function\*?|class|const|let|interface|type|enum) (\w+)/gm;
    const names = files.flatMap((file) => matches(file, pattern));
    expect(names.length).toBeGreaterThan(1500);
    expect(wrong(names)).toEqual([]);
  });

  it('exported names, of which each stands in one file of src/', () => {
    const pattern =
      /^export (?:abstract )?(?:async )?(?:function\*?|class|const|let|interface|type|enum) (\w+)/gm;
    const places = new Map<string, Set<string>>();
    for (const file of files.filter((name) => name.startsWith('src/') && !name.endsWith('.test.ts')))
      for (const { name } of matches(file, pattern))
        places.set(name, (places.get(name) ?? new Set()).add(file));
    const twice = [...places].filter(([, where]) => where.size > 1);
    expect(twice.map(([name, where]) => `${name}: ${[...where].join(', ')}`)).toEqual([]);
  });

  it('tables and columns', () => {
    const columns = matches('src/store/schema/tables.ts', /^ {2}(\w+): /gm);
    expect(columns.length).toBeGreaterThan(100);
    expect(wrong(columns)).toEqual([]);
  });

  it('configuration keys', () => {
    expect(configKeys.length).toBeGreaterThan(100);
    expect(wrong(configKeys.map(({ path }) => ({ name: path, where: 'src/config/schema.ts' })))).toEqual([]);
  });

  it('flags of the command line', () => {
    const flags = files
      .filter((file) => file.startsWith('src/cli/') && !file.endsWith('.test.ts'))
      .flatMap((file) => matches(file, /['"](?:-\w, )?(--[a-z][a-z-]+)/g));
    expect(flags.length).toBeGreaterThan(100);
    expect(wrong(flags)).toEqual([]);
  });

  it('docs/glossary.md, which names none of the old ones as a word to use', () => {
    const used = [...text('docs/glossary.md').matchAll(/^\| \*\*([^*]+)\*\*/gm)].map(([, name = '']) => name);
    expect(used.length).toBeGreaterThan(40);
    expect(wrong(used.map((name) => ({ name, where: 'docs/glossary.md' })))).toEqual([]);
  });
});
