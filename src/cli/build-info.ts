import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** Source of a build; null = unknown. */
export interface BuildInfo {
  /** Hash of the commit, 40 (or 64) hex digits. */
  commit: string | null;
  /** UTC; null for the sources. */
  built_at: string | null;
}

const unknown: BuildInfo = { commit: null, built_at: null };
const hash = /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/;

/** Written into dist/ by the build. */
export const buildFile = 'build-info.json';

/** Build info of the program in this folder: the commit of the checkout around it, else that of the build. */
export function readBuildInfo(folder: string): BuildInfo {
  const noted = textOf(join(folder, buildFile));
  const build: BuildInfo = noted === null ? unknown : { ...unknown, ...(JSON.parse(noted) as BuildInfo) };
  return { ...build, commit: checkedOut(join(folder, '..')) ?? build.commit };
}

/** The commit checked out in a folder, read without git; null if it is not a checkout. */
export function checkedOut(folder: string): string | null {
  const place = join(folder, '.git');
  // In a worktree, .git is a file that names its git directory; branches are shared with the main one.
  const linked = /^gitdir: (.+)$/m.exec(textOf(place) ?? '')?.[1];
  const own = linked === undefined ? place : resolve(folder, linked);
  const head = textOf(join(own, 'HEAD'))?.trim() ?? '';
  const branch = /^ref: (\S+)$/.exec(head)?.[1];
  const commit = branch === undefined ? head : branchHead(own, branch);
  return hash.test(commit) ? commit : null;
}

function branchHead(own: string, branch: string): string {
  const shared = textOf(join(own, 'commondir'))?.trim();
  const folders = shared === undefined ? [own] : [own, resolve(own, shared)];
  for (const folder of folders) {
    const loose = textOf(join(folder, branch));
    if (loose !== null) return loose.trim();
    const packed = textOf(join(folder, 'packed-refs'))?.split('\n') ?? [];
    const line = packed.find((each) => each.endsWith(` ${branch}`));
    if (line !== undefined) return line.slice(0, line.indexOf(' '));
  }
  return '';
}

function textOf(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}
