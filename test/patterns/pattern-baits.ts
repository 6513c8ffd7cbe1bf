import type { PeriodicText } from './pattern-steps.ts';
import type { Characters, PatternNode } from './pattern-tree.ts';

/** A text that a hostile target might send to one expression: `prefix`, `pump` again and again, `suffix`. */
export interface Bait {
  prefix: string;
  pump: string;
  suffix: string;
}

/** A bait of some length. */
export function baitText({ prefix, pump, suffix }: Bait, size: number): PeriodicText {
  const text = prefix + pump.repeat(Math.ceil(size / pump.length)).slice(0, size) + suffix;
  return { text, from: prefix.length, to: prefix.length + size, period: pump.length };
}

/** Samples of one node, at most. */
const mostSamples = 10;

/**
 * Baits made of the expression's own parts: for each repetition what leads to it, then its own samples, one character
 * of each kind that the expression tells apart, or the way to it once more; then something that does not match.
 */
export function baitsFor(tree: PatternNode): Bait[] {
  const kinds = characterKinds(tree);
  const whole = samples(tree);
  const suffixes = ['', ...kinds.strange];
  const baits = new Map<string, Bait>();
  const add = (prefix: string, pump: string) => {
    if (pump === '') return;
    for (const suffix of suffixes)
      baits.set(JSON.stringify([prefix, pump, suffix]), { prefix, pump, suffix });
  };
  for (const pump of [...kinds.characters, ...whole, ...whole.map((text) => text.slice(0, -1))])
    add('', pump);
  for (const { node, prefix } of repeats(tree, '')) {
    const bodies = samples(node.body);
    for (const pump of [...kinds.characters, ...bodies]) add(prefix, pump);
    for (const body of bodies) add('', `${prefix}${body}`);
    add('', prefix);
  }
  // What only matches at the start of a text does so once: behind something else the rest of the expression is tried.
  for (const pump of kinds.characters) for (const prefix of suffixes) add(prefix, pump);
  return [...baits.values()];
}

/** Repetitions, with a text that leads to each. */
function repeats(
  node: PatternNode,
  prefix: string,
): { node: PatternNode & { type: 'repeat' }; prefix: string }[] {
  if (node.type === 'sequence') {
    let before = prefix;
    return node.nodes.flatMap((part) => {
      const found = repeats(part, before);
      before += samples(part)[0] ?? '';
      return found;
    });
  }
  if (node.type === 'choice') return node.options.flatMap((option) => repeats(option, prefix));
  if (node.type === 'repeat') {
    const inner = repeats(node.body, prefix);
    return node.most > 1 ? [{ node, prefix }, ...inner] : inner;
  }
  return 'body' in node ? repeats(node.body, prefix) : [];
}

/** Texts that match a node (apart from what anchors, lookarounds and references demand). */
function samples(node: PatternNode): string[] {
  if (node.type === 'one') return [sampleOf(node.accepts)];
  if (node.type === 'group') return samples(node.body);
  if (node.type === 'choice') return limited(node.options.flatMap(samples));
  if (node.type === 'repeat') {
    const bodies = samples(node.body);
    const fewest = Math.max(node.least, 1);
    const texts = bodies.map((text) => text.repeat(fewest));
    const doubled = node.most > fewest ? bodies.slice(0, 1).map((text) => text.repeat(fewest + 1)) : [];
    return limited([...texts, ...(node.least === 0 ? [''] : []), ...doubled]);
  }
  if (node.type !== 'sequence') return [''];
  const parts = node.nodes.map(samples);
  const first = parts.map((texts) => texts[0] ?? '');
  const variants = parts.flatMap((texts, index) =>
    texts.slice(1).map((text) => first.with(index, text).join('')),
  );
  return limited([first.join(''), ...variants]);
}

const limited = (texts: string[]) => [...new Set(texts)].slice(0, mostSamples);

/** Characters that are tried, those first that are most telling to read. */
const alphabet = [
  ...Array.from({ length: 95 }, (_, index) => 0x20 + ((index + 65) % 95)),
  ...Array.from({ length: 0x20 }, (_, index) => index),
  ...Array.from({ length: 0x81 }, (_, index) => 0x7f + index),
  0x0301,
  0x2028,
  0x3164,
  0x4e2d,
  0xd83d,
  0xfeff,
];

function sampleOf(accepts: Characters): string {
  const code = alphabet.find((candidate) => accepts.has(candidate));
  return code === undefined ? '' : String.fromCharCode(code);
}

/**
 * One character of each kind that the expression tells apart. `strange`: accepted by as few parts as can be, and more
 * until each part accepts not all of them.
 */
function characterKinds(tree: PatternNode): { characters: string[]; strange: string[] } {
  const sets = [...new Set(ones(tree))];
  const kinds = new Map<string, number>();
  for (const code of alphabet) {
    const ends = code === 0x0a ? 'n' : '';
    const kind = sets.map((accepts) => (accepts.has(code) ? '1' : '0')).join('') + ends;
    if (!kinds.has(kind)) kinds.set(kind, code);
  }
  const accepted = (kind: string) => kind.replaceAll('0', '').length;
  const fewestFirst = [...kinds].sort(([left], [right]) => accepted(left) - accepted(right));
  const strange: string[] = [];
  let unrefused = sets.filter((accepts) => alphabet.some((code) => !accepts.has(code)));
  for (const [, code] of fewestFirst) {
    if (strange.length > 0 && !unrefused.some((accepts) => !accepts.has(code))) continue;
    strange.push(String.fromCharCode(code));
    unrefused = unrefused.filter((accepts) => accepts.has(code));
  }
  const characters = [...kinds]
    .filter(([kind]) => kind.includes('1'))
    .map(([, code]) => String.fromCharCode(code));
  return { characters, strange };
}

function ones(node: PatternNode): Characters[] {
  if (node.type === 'one') return [node.accepts];
  if (node.type === 'sequence') return node.nodes.flatMap(ones);
  if (node.type === 'choice') return node.options.flatMap(ones);
  return 'body' in node ? ones(node.body) : [];
}
