import { describe, expect, it } from 'vitest';
import { evenFaces, RecordingSheet } from '../fixtures/recording-sheet.ts';
import { paperGeometry } from '../paper.ts';
import { partHeading } from './blocks.ts';
import { PageFlow } from './page-flow.ts';
import { Places } from './places.ts';
import { columns, Table } from './table.ts';

function begin() {
  const sheet = new RecordingSheet();
  const flow = new PageFlow(sheet, paperGeometry.a4, evenFaces(), new Places(), {
    title: 'Office',
    scan: 's-1',
    footer: '',
  });
  flow.newPage();
  return { sheet, flow };
}

const list = columns({ width: 399, head: 'Name' }, { width: 100, head: 'Count', align: 'right' });

/** Rows of 17.5 points below a head of 17: 40 of them on a page of 728. */
const perPage = 40;

function fill(table: Table, count: number) {
  for (let index = 0; index < count; index += 1) table.row([`row ${index}`, String(index)]);
}

function rowsOf(sheet: RecordingSheet, page: number) {
  return sheet.textsOf(page).filter((text) => text.startsWith('row '));
}

describe('a table', () => {
  it('repeats its head as an artifact on each page', () => {
    const { sheet, flow } = begin();
    const table = new Table(flow, list);
    fill(table, perPage + 5);
    table.end();
    expect(rowsOf(sheet, 1)).toHaveLength(perPage);
    expect(rowsOf(sheet, 2)).toHaveLength(5);
    const heads = sheet.texts.filter((drawn) => drawn.text === 'Name');
    expect(heads.map(({ page, tags }) => [page, tags.at(-1)])).toEqual([
      [1, 'TH'],
      [2, 'Artifact'],
    ]);
  });

  it('leaves at least two rows on each side of a page break', () => {
    const { sheet, flow } = begin();
    const table = new Table(flow, list);
    fill(table, perPage + 1);
    table.end();
    expect(rowsOf(sheet, 1)).toHaveLength(perPage - 1);
    expect(rowsOf(sheet, 2)).toHaveLength(2);
  });

  it('is not parted if it has three rows', () => {
    const { sheet, flow } = begin();
    flow.advance(flow.remaining - 17 - 2 * 17.5);
    const table = new Table(flow, list);
    fill(table, 3);
    table.end();
    expect(rowsOf(sheet, 1)).toEqual([]);
    expect(rowsOf(sheet, 2)).toHaveLength(3);
  });

  it('has bookmarks of rows on the pages where they stand', () => {
    const { sheet, flow } = begin();
    const table = new Table(flow, list);
    fill(table, perPage);
    table.row(['row 40', '40'], { bookmark: '192.0.2.0/24' });
    fill(table, 2);
    table.end();
    expect(sheet.bookmarks).toEqual([{ title: '192.0.2.0/24', level: 1, page: 2 }]);
  });

  it('does not leave the sum alone', () => {
    const { sheet, flow } = begin();
    const table = new Table(flow, list);
    fill(table, perPage);
    table.end(['All', '7']);
    expect(sheet.textsOf(2)).toContain('All');
    expect(rowsOf(sheet, 2)).toHaveLength(2);
  });

  it('keeps its heading, its head and two rows together', () => {
    const { sheet, flow } = begin();
    const room = 16 + 16 + 5 + 17 + 2 * 17.5;
    flow.advance(flow.remaining - room + 1);
    partHeading(flow, 'Ports');
    const table = new Table(flow, list);
    fill(table, 3);
    table.end();
    expect(sheet.textsOf(1)).not.toContain('Ports');
    expect(sheet.textsOf(2)).toContain('Ports');
    expect(rowsOf(sheet, 2)).toHaveLength(3);
  });

  it('stays on the page where heading, head and two rows just fit', () => {
    const { sheet, flow } = begin();
    const room = 16 + 16 + 5 + 17 + 2 * 17.5;
    flow.advance(flow.remaining - room);
    partHeading(flow, 'Ports');
    const table = new Table(flow, list);
    fill(table, 4);
    table.end();
    expect(sheet.textsOf(1)).toContain('Ports');
    expect(rowsOf(sheet, 1)).toHaveLength(2);
    expect(rowsOf(sheet, 2)).toHaveLength(2);
  });

  it('opens pages that go on with an entry by its name', () => {
    const { sheet, flow } = begin();
    flow.setContinued([
      {
        text: 'CVE-2023-46604, continued',
        style: { face: 'regular', size: 7.5, line: 10, color: '#000000' },
      },
    ]);
    const table = new Table(flow, list);
    fill(table, perPage + 5);
    table.end();
    expect(sheet.textsOf(2)).toContain('CVE-2023-46604, continued');
  });

  it('rejects columns that do not fill the page', () => {
    expect(() => columns({ width: 100, head: 'a' })).toThrow('499');
  });
});
