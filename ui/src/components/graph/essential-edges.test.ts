import { expect, it } from 'vitest';
import { essentialEdges } from './essential-edges.ts';

const edge = (text: string) => {
  const [from = '', to = ''] = text.split('>');
  return { from, to };
};
const texts = (list: { from: string; to: string }[]) => list.map(({ from, to }) => `${from}>${to}`);

it('leaves out what other edges say already', () => {
  expect(texts(essentialEdges(['a>b', 'b>c', 'a>c', 'c>d', 'a>d', 'b>d'].map(edge)))).toEqual([
    'a>b',
    'b>c',
    'c>d',
  ]);
});

it('keeps ways that are not the same', () => {
  const diamond = ['a>b', 'a>c', 'b>d', 'c>d'];
  expect(texts(essentialEdges(diamond.map(edge)))).toEqual(diamond);
});

it('keeps cycles connected', () => {
  const cycle = ['a>b', 'b>c', 'c>a'];
  expect(texts(essentialEdges(cycle.map(edge)))).toEqual(cycle);
});

it('keeps problems', () => {
  const problem = { from: 'a', to: 'c', problem: true };
  expect(essentialEdges([...['a>b', 'b>c'].map(edge), problem])).toContain(problem);
});
