/** Largest item, bytes of its texts and eight for every other value. */
export const maxItemBytes = 1024 * 1024;
/** Deepest nesting of objects and lists in an item. */
const maxDepth = 16;

/**
 * What keeps a value from being an item: more bytes or levels than allowed, something that is not JSON, or a key that
 * would become a prototype. Null if nothing does.
 */
export function itemProblem(value: unknown, limit = maxItemBytes): string | null {
  const left = { bytes: limit };
  const problem = problemAt(value, left, 0);
  return problem ?? (left.bytes < 0 ? tooLarge(limit) : null);
}

function problemAt(value: unknown, left: { bytes: number }, depth: number): string | null {
  switch (typeof value) {
    case 'string':
      left.bytes -= Buffer.byteLength(value);
      return null;
    case 'number':
      left.bytes -= 8;
      return Number.isFinite(value) ? null : 'has a number that is not finite';
    case 'boolean':
    case 'undefined':
      left.bytes -= 8;
      return null;
    case 'object':
      return value === null ? null : insideProblem(value, left, depth + 1);
    default:
      return `has a ${typeof value}, which is not JSON`;
  }
}

function insideProblem(value: object, left: { bytes: number }, depth: number): string | null {
  left.bytes -= 8;
  // Further values cannot make it acceptable.
  if (left.bytes < 0) return null;
  if (depth > maxDepth) return `is nested deeper than ${maxDepth} levels`;
  if (Array.isArray(value)) {
    for (const element of value) {
      const problem = problemAt(element, left, depth);
      if (problem !== null) return problem;
    }
    return null;
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return 'has an object that is not JSON';
  for (const [name, member] of Object.entries(value)) {
    if (name === '__proto__') return 'has a key "__proto__"';
    left.bytes -= Buffer.byteLength(name);
    const problem = problemAt(member, left, depth);
    if (problem !== null) return problem;
  }
  return null;
}

function tooLarge(limit: number): string {
  return `is larger than ${limit / 1024} KiB`;
}
