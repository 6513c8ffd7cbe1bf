import { expect, it } from 'vitest';
import {
  chosenColumns,
  columnTemplate,
  directionOf,
  fittingColumns,
  nextSort,
  printedTemplate,
} from './column-layout.ts';

const columns = [
  { id: 'address', width: 120, priority: 0 },
  { id: 'name', width: 160, grow: 1, priority: 2 },
  { id: 'os', width: 100, priority: 3 },
  { id: 'mac', width: 120, priority: 7, optional: true },
];
const ids = (list: readonly { id: string }[]) => list.map(({ id }) => id);

it('shows what is not optional until the reader chooses', () => {
  expect(ids(chosenColumns(columns, undefined))).toEqual(['address', 'name', 'os']);
});

it('shows what the reader chose, and the column that names the row', () => {
  expect(ids(chosenColumns(columns, ['mac']))).toEqual(['address', 'mac']);
});

it('lets columns leave by their priority', () => {
  expect(ids(fittingColumns(columns, 540))).toEqual(['address', 'name', 'os', 'mac']);
  expect(ids(fittingColumns(columns, 535))).toEqual(['address', 'name', 'os']);
  expect(ids(fittingColumns(columns, 300))).toEqual(['address', 'name']);
  expect(ids(fittingColumns(columns, 50))).toEqual(['address']);
});

it('gives the rest to the columns that grow', () => {
  expect(columnTemplate(columns.slice(0, 2), 28)).toBe('28px minmax(0, 120px) minmax(min(160px, 100%), 1fr)');
});

it('gives the rest to the last column when none grows', () => {
  expect(
    columnTemplate(
      [
        { id: 'a', width: 10 },
        { id: 'b', width: 20 },
      ],
      0,
    ),
  ).toBe('minmax(0, 10px) minmax(min(20px, 100%), 1fr)');
});

it('shares the width of paper', () => {
  const printed = [
    { id: 'a', width: 50 },
    { id: 'b', width: 20, grow: 2 },
  ];
  expect(printedTemplate(printed, 20)).toBe('20px minmax(0, 50fr) minmax(0, 220fr)');
});

it('turns the direction of the sorted column', () => {
  expect(nextSort(undefined, { sort: 'name' })).toBe('name');
  expect(nextSort('name', { sort: 'name' })).toBe('-name');
  expect(nextSort('-name', { sort: 'name' })).toBe('name');
  expect(nextSort('name', { sort: 'findings', descendingFirst: true })).toBe('-findings');
});

it('reads the direction of the first field', () => {
  expect(directionOf('-severity,host', 'severity')).toBe('descending');
  expect(directionOf('-severity,host', 'host')).toBe('none');
  expect(directionOf('host', 'host')).toBe('ascending');
});
