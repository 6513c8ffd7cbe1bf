import { expect, test } from 'vitest';
import { readXml, XmlProblem } from './xml-reader.ts';

test('reads elements, attributes, text, CDATA and comments', () => {
  const root = readXml(`\uFEFF<?xml version='1.0' encoding='UTF-8'?>
<!-- a remark -->
<list kind="a&amp;b"
      other='&lt;&#x41;&#66;&quot;'>
  <item/>one<!-- two --><![CDATA[<three> & ]]>
  <item n="x
y"></item>
</list>`);
  expect([root.name, root.line, [...root.attributes]]).toEqual([
    'list',
    3,
    [
      ['kind', 'a&b'],
      ['other', '<AB"'],
    ],
  ]);
  expect(root.text.replace(/\s+/g, ' ')).toBe(' one<three> & ');
  expect(root.children.map(({ name, line, attributes }) => [name, line, attributes.get('n')])).toEqual([
    ['item', 5, undefined],
    ['item', 6, 'x y'],
  ]);
});

test.each([
  ['<!DOCTYPE x [<!ENTITY a "b">]><x/>', 1, 'document type'],
  ['<x>&a;</x>', 1, 'unknown entity &a;'],
  ['<x>&#0;</x>', 1, 'unknown entity'],
  ['<x>&#xD800;</x>', 1, 'unknown entity'],
  ['<x>&#x110000;</x>', 1, 'unknown entity'],
  ['<x>&constructor;</x>', 1, 'unknown entity'],
  ['<x>& </x>', 1, 'unknown entity'],
  ['<x><?php ?></x>', 1, 'processing instructions'],
  ['<x>\n<y></x>', 2, '</x>, expected </y>'],
  ['<x>\n<y>', 2, 'is not closed'],
  ['<x/><x/>', 1, 'second root'],
  ['<x/>text', 1, 'outside of the root'],
  ['<x a="1" a="2"/>', 1, 'duplicate attribute a'],
  ['<x a=1/>', 1, 'not quoted'],
  ['<x a="<"/>', 1, '"<" in the value'],
  ['<x a="1"b="2"/>', 1, 'not well-formed'],
  ['<x a/>', 1, 'has no value'],
  ['<!-- no end', 1, 'does not end'],
  ['<x a="', 1, 'does not end'],
  ['', 1, 'no element'],
  ['</x>', 1, 'expected no end tag'],
  ['< x/>', 1, 'expected a name'],
  ['<x>'.repeat(17), 1, 'nested'],
])('refuses %j', (text, line, message) => {
  try {
    readXml(text);
    expect.unreachable();
  } catch (error) {
    expect(error).toBeInstanceOf(XmlProblem);
    expect((error as XmlProblem).message).toContain(message);
    expect((error as XmlProblem).line).toBe(line);
  }
});

test('hostile documents end with nothing but its own error', () => {
  const pieces = [
    '<',
    '>',
    '/',
    '&',
    ';',
    '"',
    "'",
    '=',
    '!',
    '-',
    '[',
    ']',
    '?',
    'a',
    ' ',
    '\n',
    '<a>',
    '</a>',
    '<!--',
    '-->',
  ];
  let seed = 11;
  const random = (below: number) => {
    seed = (seed * 1103515245 + 12345) % 2147483648;
    return Math.floor((seed / 2147483648) * below);
  };
  for (let round = 0; round < 20_000; round++) {
    const text = Array.from({ length: random(30) }, () => pieces[random(pieces.length)]).join('');
    try {
      readXml(text);
    } catch (error) {
      if (!(error instanceof XmlProblem)) throw error;
    }
  }
});

test.each(['<', '&', '<!--', '<a b="', '<a>', '</a>', ' ', '<a ', '&#', '<![CDATA[', '<x/>'])(
  'nothing but %j is refused in one pass',
  (bait) => void expect(() => readXml(`<r>${bait.repeat(300_000)}`)).toThrow(XmlProblem),
);
