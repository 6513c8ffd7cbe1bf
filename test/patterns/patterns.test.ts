import { describe, expect, it, test } from 'vitest';
import { addressPatterns } from '../../src/domain/targets/address-family.ts';
import type { Probe } from '../../src/knowledge/probes/probe.ts';
import { webProbes } from '../../src/knowledge/probes/web.ts';
import { plainRow } from '../../src/server/shards/row-subject.ts';
import { baitsFor, baitText } from './pattern-baits.ts';
import { StepCounter } from './pattern-steps.ts';
import { readPattern } from './pattern-tree.ts';
import { filesWithBuiltPatterns, regexLiterals, sourcePatterns } from './source-patterns.ts';

/** Characters of a bait, and of the longer one that shows how the work grows. */
const baitSize = 1024;
const longBaitSize = 4 * baitSize;

/** Steps for each character of a text: 64 KiB take V8 some 50 ms at most. */
const mostSteps = 256;

/** Below this many steps for each character growth cannot be told from noise at the edges. */
const fewSteps = 5;

/** Linear work grows by 4 from one bait to the other, quadratic work by 16. */
const mostGrowth = 6;

/** Files that build expressions at run time, and what they build. */
const builtPatterns: Record<string, RegExp[]> = {
  'knowledge/probes/web.ts': webProbes.flatMap(({ after }: Probe) => (after ? [after.answer] : [])),
  'knowledge/protocols/announcement.ts': [
    /^server[ \t]*:[ \t]*([\x20-\x7e]{1,256})/im,
    /<(?:[\w.-]{1,32}:)?Types\b[^<>]{0,256}>([^<>]{1,1024})</,
  ],
  'domain/targets/address-family.ts': addressPatterns,
  'engine/graph/condition.ts': [],
  'server/shards/row-subject.ts': [plainRow],
  'server/http/routes.ts': [/^\/ui\/.*$/, /^\/api\/v1\/scans\/[^/]+\/results$/],
  // Patterns of the schemas of the API, on the examples beside them.
  'server/http/schema/document/examples.ts': [],
};

/** What makes an expression expensive, or null when it is linear. */
function expensiveBait(pattern: string, flags: string): string | null {
  const tree = readPattern(pattern, flags);
  const counter = new StepCounter(tree, flags);
  for (const bait of baitsFor(tree)) {
    const shown = JSON.stringify(bait).slice(0, 300);
    const steps = counter.steps(baitText(bait, baitSize), mostSteps * baitSize);
    if (steps <= fewSteps * baitSize) continue;
    if (steps >= mostSteps * baitSize) return shown;
    const more = counter.steps(baitText(bait, longBaitSize), mostSteps * longBaitSize);
    if (more >= mostSteps * longBaitSize || more > mostGrowth * steps) return shown;
  }
  return null;
}

describe('no regular expression of the source backtracks', () => {
  const patterns = sourcePatterns();

  it('finds the expressions', () => {
    expect(patterns.length).toBeGreaterThan(700);
    expect(patterns.map(({ file }) => file)).toContain('knowledge/requests/favicon.ts');
  });

  it('needs few steps for each character of baits made of its own parts', () => {
    const expensive = patterns.flatMap(({ file, line, pattern, flags }) => {
      const bait = expensiveBait(pattern, flags);
      return bait === null ? [] : [`${file}:${line} /${pattern}/${flags} with ${bait}`];
    });
    expect(expensive).toEqual([]);
  });

  it('knows the files that build expressions at run time, and what they build', () => {
    expect(filesWithBuiltPatterns().sort()).toEqual(Object.keys(builtPatterns).sort());
    const expensive = Object.values(builtPatterns)
      .flat()
      .filter(({ source, flags }) => expensiveBait(source, flags) !== null);
    expect(expensive).toEqual([]);
  });
});

test.each([
  /(a+)+$/,
  /^(?:a|a)*b/,
  /^(([a-z])+.)+[A-Z]([a-z])+$/,
  /\s+$/,
  /<a[^>]*href/,
  /^\s*(?:<\?xml[^>]*>\s*|<!--[^]{0,500}?-->\s*){0,4}<svg/,
  /^(?:"[^"]*"|[^,]*)*;/,
  /a[^]*b[^]*c/,
  /^[a-z]+[a-z0-9]+!/,
  /(?<!x)\s*;/,
  /a[^]*?b|a/g,
  /(?<=a+)b/,
  /a{1,5000}b/,
  /^ +| +$/g,
  /(^|\s)#.*$/,
  /^\s+[^#\s]/m,
])('%s is expensive', ({ source, flags }) => {
  expect(expensiveBait(source, flags)).not.toBeNull();
});

test.each([
  /^[a-z]+$/,
  /(?<!\s)\s+$/,
  /<a[^<>]*href/,
  /^a[^]*b/,
  /^(?:[a-z]+,)*[a-z]+$/,
  /<title>([^<]{0,100})</,
  /\\(?:[^\\]|\\.)*\\/s,
  /(?:foo|bar)\d{1,9}/gi,
])('%s is linear', ({ source, flags }) => {
  expect(expensiveBait(source, flags)).toBeNull();
});

test('literals are told from divisions, strings, templates and comments', () => {
  const code = [
    'const a = b / c / d; // /no/',
    "const e = '/no/'; /* /no/ */ f(/x[/]\\/y/gi);",
    'const g = `/no/${h.replace(/i/, `${j}/no/`) / 2}/no/`;',
    'return /k/.test(l) ? m[0] / 2 : (n) / 3;',
  ].join('\n');
  expect(regexLiterals(code)).toEqual([
    { line: 2, pattern: 'x[/]\\/y', flags: 'gi' },
    { line: 3, pattern: 'i', flags: '' },
    { line: 4, pattern: 'k', flags: '' },
  ]);
});
