import { describe, expect, it } from 'vitest';
import type { ResultRow } from '../../domain/result.ts';
import { onlyOpen } from './only-open.ts';

const host = (name: string) => ({ type: 'host', host: name }) as ResultRow;
const port = (name: string, number: number) => ({ type: 'port', host: name, port: number }) as ResultRow;
const silent = (name: string) =>
  ({ ...port(name, 161), protocol: 'udp', state: 'open|filtered' }) as ResultRow;
const finding = (name: string) => ({ type: 'vulnerability', host: name, port: null }) as ResultRow;
const summary = { type: 'summary', host: null } as ResultRow;

async function* from(rows: ResultRow[]) {
  yield* rows;
}

describe('onlyOpen', () => {
  it('leaves out hosts without an open port, with their findings', async () => {
    const rows = [
      [host('a'), port('a', 22), finding('a'), port('a', 80)],
      [host('b'), finding('b')],
      [host('c')],
      [host('d'), finding('d'), port('d', 1)],
      [port('e', 2), finding('e'), summary],
    ].flat();
    const left = await Array.fromAsync(onlyOpen(from(rows)));
    expect(left).toEqual(rows.filter(({ host: name }) => name !== 'b' && name !== 'c'));
  });

  it('takes silence over UDP for no open port', async () => {
    const rows = [host('a'), port('a', 22), silent('a'), host('b'), silent('b'), finding('b'), summary];
    expect(await Array.fromAsync(onlyOpen(from(rows)))).toEqual([host('a'), port('a', 22), summary]);
  });
});
