import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { checkedOut, readBuildInfo } from './build-info.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'portolan-build-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const commit = '0123456789abcdef0123456789abcdef01234567';
const other = 'f'.repeat(40);

function write(path: string, text: string): void {
  mkdirSync(dirname(join(dir, path)), { recursive: true });
  writeFileSync(join(dir, path), text);
}

describe('checkedOut', () => {
  it('reads a branch from its file', () => {
    write('.git/HEAD', 'ref: refs/heads/main\n');
    write('.git/packed-refs', `# pack-refs with: peeled\n${other} refs/heads/main\n`);
    write('.git/refs/heads/main', `${commit}\n`);
    expect(checkedOut(dir)).toBe(commit);
  });

  it('reads a packed branch, and a commit without a branch', () => {
    write('.git/HEAD', 'ref: refs/heads/main\n');
    write('.git/packed-refs', `${other} refs/heads/not/main\n${commit} refs/heads/main\n`);
    expect(checkedOut(dir)).toBe(commit);
    write('.git/HEAD', `${other}\n`);
    expect(checkedOut(dir)).toBe(other);
  });

  it('reads a worktree, whose branches lie in another folder', () => {
    write('tree/.git', `gitdir: ${join(dir, 'main/.git/worktrees/tree')}\n`);
    write('main/.git/worktrees/tree/HEAD', 'ref: refs/heads/topic\n');
    write('main/.git/worktrees/tree/commondir', '../..\n');
    write('main/.git/refs/heads/topic', `${commit}\n`);
    expect(checkedOut(join(dir, 'tree'))).toBe(commit);
  });

  it('knows nothing of a folder that is no checkout, or has no commit yet', () => {
    expect(checkedOut(dir)).toBeNull();
    write('.git/HEAD', 'ref: refs/heads/main\n');
    expect(checkedOut(dir)).toBeNull();
    write('.git/refs/heads/main', 'nonsense\n');
    expect(checkedOut(dir)).toBeNull();
  });
});

it('names the commit of the checkout around it, else what the build noted', () => {
  write('.git/HEAD', `${other}\n`);
  expect(readBuildInfo(join(dir, 'src'))).toEqual({ commit: other, built_at: null });
  const built_at = '2026-10-06T14:30:22.118Z';
  write('dist/build-info.json', JSON.stringify({ commit, built_at }));
  expect(readBuildInfo(join(dir, 'dist'))).toEqual({ commit: other, built_at });
  rmSync(join(dir, '.git'), { recursive: true });
  expect(readBuildInfo(join(dir, 'dist'))).toEqual({ commit, built_at });
});
