import { expect, it } from 'vitest';
import { allTags, servedPools } from './pool-tags.ts';

it.each([
  [['gpu'], {}, ['dmz', 'lab']],
  [['gpu'], { lab: ['gpu'] }, ['dmz', 'lab']],
  [['gpu'], { lab: ['gpu', 'fast'] }, ['dmz']],
  [['fast', 'gpu'], { lab: ['gpu', 'fast'] }, ['dmz', 'lab']],
  [[], { lab: ['gpu'], dmz: ['x'], other: ['y'] }, []],
  [[], { toString: ['x'] }, ['dmz', 'lab']],
])('a worker with tags %j serves pools that ask for none besides: %j', (tags, required, served) => {
  expect(servedPools({ pools: ['dmz', 'lab'], tags }, required)).toEqual(served);
});

it('servers that are configured differently ask for the tags of all', () => {
  expect(allTags([{ lab: ['a'] }, {}, { lab: ['b', 'a'], dmz: ['c'] }])).toEqual({
    lab: ['a', 'b'],
    dmz: ['c'],
  });
});
