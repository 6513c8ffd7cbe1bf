/** A stretch of one line of YAML, as it is colored. */
export interface YamlToken {
  kind: 'key' | 'string' | 'number' | 'comment' | 'plain';
  text: string;
}

/** Longer lines are not colored. */
const maxColored = 2000;

const lead = /^(\s*(?:-\s+)*)/;
const key = /^("(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[^\s#:{}[\],&*!|>'"%@`][^#:{}[\],]*?)(\s*:)(?=\s|$)/;
const parts =
  /("(?:[^"\\]|\\.)*"?|'(?:[^']|'')*'?)|(#.*$)|([\s{}[\],:|>&*!]+)|([^\s{}[\],#:]+(?:[:#][^\s{}[\],]+)*)|(.)/gy;
const number = /^[+-]?(?:\d+(?:\.\d+)?(?:e[+-]?\d+)?|0x[\da-f]+|true|false|null|~)$/i;

/**
 * Colors of one line, read by itself: a line of a block of text is taken for what it looks like. The texts joined
 * are the line.
 */
export function yamlTokens(line: string): YamlToken[] {
  if (line.length > maxColored) return [{ kind: 'plain', text: line }];
  const tokens: YamlToken[] = [];
  const start = lead.exec(line)?.[0] ?? '';
  if (start !== '') tokens.push({ kind: 'plain', text: start });
  const named = key.exec(line.slice(start.length));
  if (named !== null) {
    tokens.push({ kind: 'key', text: named[1] ?? '' }, { kind: 'plain', text: named[2] ?? '' });
  }
  return [...tokens, ...valueTokens(line.slice(start.length + (named?.[0].length ?? 0)))];
}

function valueTokens(text: string): YamlToken[] {
  const tokens: YamlToken[] = [];
  parts.lastIndex = 0;
  for (let match = parts.exec(text); match !== null; match = parts.exec(text)) {
    const [own, quoted, comment, signs, word] = match;
    const kind =
      quoted !== undefined
        ? 'string'
        : comment !== undefined
          ? 'comment'
          : signs !== undefined
            ? 'plain'
            : kindOf(word ?? own);
    tokens.push({ kind, text: own });
  }
  return keysOfFlow(tokens);
}

function kindOf(word: string): YamlToken['kind'] {
  return number.test(word) ? 'number' : 'string';
}

/** `{ ports: "80,443" }`: a word before a colon is a key here too. */
function keysOfFlow(tokens: YamlToken[]): YamlToken[] {
  return tokens.map((token, index) => {
    const isKey = token.kind === 'string' && /^\s*:\s/.test(`${tokens[index + 1]?.text ?? ''}`);
    return isKey ? { ...token, kind: 'key' } : token;
  });
}
