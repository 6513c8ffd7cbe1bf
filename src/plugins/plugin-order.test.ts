import { expect, it } from 'vitest';
import { orderPlugins } from './plugin-order.ts';

const plugins = (graph: Record<string, string[]>) =>
  Object.entries(graph).map(([name, requires]) => ({ name, requires }));
const orderOf = (graph: Record<string, string[]>) => {
  const { ordered, refused } = orderPlugins(plugins(graph));
  return { ordered: ordered.map(({ name }) => name), refused: Object.fromEntries(refused) };
};

it('loads what a plugin requires before it', () => {
  expect(orderOf({ a: ['b', 'c'], b: ['c'], c: [], d: [] })).toEqual({
    ordered: ['c', 'b', 'a', 'd'],
    refused: {},
  });
});

it('refuses a plugin whose requirement is missing, and those that require it, with the path', () => {
  expect(orderOf({ a: ['b'], b: ['gone'], c: [] })).toEqual({
    ordered: ['c'],
    refused: {
      a: 'it requires "b", which is refused (a -> b)',
      b: 'it requires "gone", which is not there (a -> b -> gone)',
    },
  });
});

it('refuses a cycle with its path, and loads the others', () => {
  const { ordered, refused } = orderOf({ x: ['a'], a: ['b'], b: ['c'], c: ['a'], d: [], me: ['me'] });
  expect(ordered).toEqual(['d']);
  const cycle = 'its requirements form a cycle: a -> b -> c -> a';
  expect(refused).toEqual({
    a: cycle,
    b: cycle,
    c: cycle,
    x: 'it requires "a", which is refused (x -> a)',
    me: 'its requirements form a cycle: me -> me',
  });
});
