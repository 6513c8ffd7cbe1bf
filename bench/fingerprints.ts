/**
 * How long 5,000 fingerprint rules take over one hostile answer of 64 KiB. The rules are made here, in the forms that
 * real ones have, and all look at the same evidence: `npm run bench:fingerprints [-- --corpus FOLDER]`; with a folder of
 * Recog databases those are measured as well.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { parseRecog } from '../src/knowledge/recog/recog-file.ts';
import { requiredLiterals } from '../src/knowledge/rules/literals.ts';
import { builtinRules, RuleCatalog } from '../src/knowledge/rules/rule-catalog.ts';
import type { Signature } from '../src/knowledge/signatures/signature.ts';

const barMs = 50;
const answerBytes = 64 * 1024;
const rounds = 9;

// A scan that meets a hostile answer has met others before it.
for (const { source, examples } of builtinRules.signatures)
  builtinRules.match(source, examples[0]?.text ?? '');

const { values } = parseArgs({ options: { corpus: { type: 'string' } } });
measure('5,000 rules made here', madeRules(5000));
if (values.corpus !== undefined) measure('the rules of the corpus', corpusRules(values.corpus));

function measure(name: string, imported: Signature[]): void {
  const own = builtinRules.signatures.map((signature) => ({ ...signature, source: 'banner.raw' }));
  const before = process.memoryUsage().rss;
  const start = performance.now();
  const catalogue = new RuleCatalog([...imported, ...own], 'bench', imported);
  catalogue.match('banner.raw', '');
  const indexed = performance.now() - start;
  console.log(
    `\n${name} (${imported.length}) and ${own.length} builtin ones, all on one evidence: ready after ${indexed.toFixed(0)} ms\n`,
  );
  console.log(
    '| answer of 64 KiB | first time, ms | then, median ms | slowest ms | matches |\n|---|---|---|---|---|',
  );
  let worst = 0;
  for (const [bait, text] of Object.entries(baits(imported))) {
    const times: number[] = [];
    let matches = 0;
    for (let round = 0; round <= rounds; round++) {
      const begun = performance.now();
      matches = catalogue.match('banner.raw', text).length;
      times.push(performance.now() - begun);
    }
    const [first = 0, ...later] = times;
    later.sort((a, b) => a - b);
    const median = later[rounds >> 1] ?? 0;
    worst = Math.max(worst, first, ...later);
    console.log(
      `| ${bait} | ${first.toFixed(1)} | ${median.toFixed(1)} | ${(later.at(-1) ?? 0).toFixed(1)} | ${matches} |`,
    );
  }
  const grown = (process.memoryUsage().rss - before) / 1e6;
  console.log(
    `\nworst ${worst.toFixed(1)} ms (bar ${barMs} ms); memory of the process grew by ${grown.toFixed(0)} MB`,
  );
  if (worst > barMs) process.exitCode = 1;
}

/** Rules with names, versions, alternatives, optional parts and case ignored, in the shares that a corpus has. */
function madeRules(count: number): Signature[] {
  const syllables = ['ka', 'lo', 'mi', 'ser', 'ver', 'net', 'ftp', 'box', 'dae', 'mon', 'tel', 'co'];
  const word = (number: number) =>
    [1, 12, 144, 1728].map((unit) => syllables[Math.floor(number / unit) % 12]).join('');
  const forms: ((name: string) => [pattern: string, flags: string])[] = [
    (name) => [`^${name}/(\\d+\\.\\d+(?:\\.\\d+)?)`, 'm'],
    (name) => [`^${name} (?:Server|Service)(?: v?([\\d.]+))? ready\\.?$`, 'mi'],
    (name) => [`(?:^|\\s)${name}[ _-]([\\w.]+)\\s+\\(([^)]+)\\)`, 'm'],
    (name) => [`^(?:${name}|${name.slice(0, 6)}x) (.*) ([\\w.-]+)$`, 'ms'],
    (name) => [`${name}.*version[ :]+([^\\s]+).*build (\\d+)`, 'mis'],
  ];
  return Array.from({ length: count }, (_, number) => {
    const [pattern, flags] = (forms[number % forms.length] as (typeof forms)[number])(word(number * 4));
    return {
      id: `made.n${number}`,
      service: null,
      source: 'banner.raw',
      pattern,
      flags,
      product: `Product ${number}`,
      vendor: null,
      version: '{1}',
      certainty: 0.8,
      examples: [],
    };
  });
}

function corpusRules(folder: string): Signature[] {
  const files = readdirSync(folder).filter((name) => name.endsWith('.xml'));
  return files
    .flatMap((file) => parseRecog(readFileSync(join(folder, file), 'utf8'), file))
    .map(({ signature }) => ({ ...signature, source: 'banner.raw' }));
}

function baits(rules: readonly Signature[]): Record<string, string> {
  const fill = (text: string) => text.repeat(Math.ceil(answerBytes / text.length)).slice(0, answerBytes);
  const literals = rules.flatMap(({ pattern }) => requiredLiterals(pattern)?.[0] ?? []);
  const byLength = [...new Set(literals)].sort((a, b) => a.length - b.length);
  return {
    'the required texts of the rules': fill(literals.join(' ')),
    'the same, shortest first, in lines': fill(byLength.join('\n')),
    'the same, longest first': fill([...byLength].reverse().join(' ')),
    'every seventh, as greetings': fill(byLength.filter((_, index) => index % 7 === 0).join('\n220 ')),
    'one letter': fill('a'),
    'line ends': fill('\n'),
    'numbers with dots': fill('1.'),
    'brackets and slashes': fill(' (x) a/1.0 '),
    'a greeting, repeated': fill('SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n'),
  };
}
