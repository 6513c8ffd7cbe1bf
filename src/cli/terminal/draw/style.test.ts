import { describe, expect, it } from 'vitest';
import { styleOf } from './style.ts';

const terminal = { isTTY: true, columns: 100 };
const pipe = {};
const utf8 = { LANG: 'C.UTF-8', TERM: 'xterm' };

const colored = (stream: object, env: NodeJS.ProcessEnv, color = true) =>
  styleOf(stream, { color }, { ...utf8, ...env }).color;

describe('color', () => {
  it('is on in a terminal and off elsewhere', () => {
    expect([colored(terminal, {}), colored(pipe, {})]).toEqual([true, false]);
  });

  it.each([
    ['--no-color', {}, false],
    ['NO_COLOR', { NO_COLOR: '1' }, true],
    ['TERM=dumb', { TERM: 'dumb' }, true],
    ['NO_COLOR, which is stronger than FORCE_COLOR', { NO_COLOR: '1', FORCE_COLOR: '1' }, true],
    ['--no-color, which is stronger than FORCE_COLOR', { FORCE_COLOR: '1' }, false],
  ])('is off with %s', (_what, env, flag) => {
    expect(colored(terminal, env, flag)).toBe(false);
  });

  it('is not turned off by an empty NO_COLOR', () => {
    expect(colored(terminal, { NO_COLOR: '' })).toBe(true);
  });

  it.each([
    ['FORCE_COLOR', { FORCE_COLOR: '1' }, true],
    ['CLICOLOR_FORCE', { CLICOLOR_FORCE: '1' }, true],
    ['FORCE_COLOR with TERM=dumb', { FORCE_COLOR: '3', TERM: 'dumb' }, true],
    ['CLICOLOR_FORCE=0', { CLICOLOR_FORCE: '0' }, false],
    ['FORCE_COLOR=0', { FORCE_COLOR: '0' }, false],
  ])('in a pipe follows %s', (_what, env, expected) => {
    expect(colored(pipe, env)).toBe(expected);
  });
});

describe('glyphs', () => {
  it.each([
    [{ LANG: 'en_US.UTF-8' }, false],
    [{ LANG: 'C.utf8' }, false],
    [{ LANG: 'C' }, true],
    [{}, true],
    [{ LANG: 'en_US.UTF-8', LC_ALL: 'POSIX' }, true],
    [{ LANG: 'C', LC_CTYPE: 'de_DE.UTF-8' }, false],
    [{ LANG: 'ja_JP.UTF-8' }, true],
    [{ LANG: 'zh_CN.UTF-8', LC_ALL: '' }, true],
    [{ LANG: 'ko.UTF-8' }, true],
  ])('with %j only ASCII: %s', (env, expected) => {
    expect(styleOf(terminal, { color: true }, env).ascii).toBe(expected);
  });
});

describe('width', () => {
  it('is that of the terminal, else 80 columns', () => {
    const widths = [terminal, { isTTY: true }, { isTTY: true, columns: 0 }, pipe].map(
      (stream) => styleOf(stream, { color: true }, {}).columns,
    );
    expect(widths).toEqual([100, 80, 80, 80]);
  });
});
