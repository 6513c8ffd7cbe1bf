import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { StatusBlock } from './status-block.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function blockOf(lines: string[], columns = 40) {
  const written: string[] = [];
  const resized: (() => void)[] = [];
  const stream = {
    columns,
    rows: 10,
    write: (text: string) => written.push(text),
    on: (_event: 'resize', listener: () => void) => resized.push(listener),
    off: () => undefined,
  };
  return { written, resized, stream, block: new StatusBlock(stream, () => lines) };
}

describe('StatusBlock', () => {
  it('draws nothing in the first 0.4 s, then five times a second, and leaves nothing behind', () => {
    const { written, block } = blockOf(['one', 'two']);
    vi.advanceTimersByTime(390);
    expect(written).toEqual([]);
    vi.advanceTimersByTime(1000);
    expect(written.slice(0, 2)).toEqual(['one\ntwo', '\r\x1b[2K\x1b[1A\x1b[2Kone\ntwo']);
    expect(written.length).toBeLessThanOrEqual(5);
    block.end();
    expect(written.at(-1)).toBe('\r\x1b[2K\x1b[1A\x1b[2K');
    const { length } = written;
    vi.advanceTimersByTime(1000);
    block.end();
    expect(written).toHaveLength(length);
  });

  it('is erased before anything is written above it', () => {
    const { written, block, stream } = blockOf(['one']);
    vi.advanceTimersByTime(500);
    block.above(() => stream.write('note\n'));
    expect(written.slice(-3)).toEqual(['\r\x1b[2K', 'note\n', 'one']);
    block.end();
  });

  it('is drawn again when the window becomes narrower, whose terminal has wrapped it', () => {
    const { written, resized, stream, block } = blockOf(['x'.repeat(39), 'y']);
    vi.advanceTimersByTime(500);
    stream.columns = 20;
    for (const listener of resized) listener();
    expect(written.at(-2)).toBe(`\r\x1b[2K${'\x1b[1A\x1b[2K'.repeat(2)}`);
    expect(written.at(-1)).toMatch(/^x+\ny$/);
    block.end();
  });
});
