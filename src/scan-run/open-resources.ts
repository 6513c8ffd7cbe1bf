import { readdir, readlink } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

/** What a scan has closed may take a moment to be gone, milliseconds. */
const graceMs = 250;
const betweenMs = 10;

/** Kinds of open files that a scan must not leave: sockets of Node.js and of the packet code, epoll sets, timers, pipes. */
const watched = /^(socket|anon_inode|pipe):/;

/** What is open in this process, counted by kind: compared after a scan with what was open before the first one. */
export class OpenResources {
  readonly #before: ReadonlyMap<string, number>;

  private constructor(before: ReadonlyMap<string, number>) {
    this.#before = before;
  }

  static async now(): Promise<OpenResources> {
    return new OpenResources(await countOpen());
  }

  /** A kind of which there is more than before, for people; null when there is none. */
  async residue(): Promise<string | null> {
    const until = performance.now() + graceMs;
    for (;;) {
      const more = this.#more(await countOpen());
      if (more === null || performance.now() > until) return more;
      await sleep(betweenMs, undefined, { ref: false });
    }
  }

  #more(open: ReadonlyMap<string, number>): string | null {
    for (const [kind, count] of open)
      if (count > (this.#before.get(kind) ?? 0)) return `${count} of ${kind} open`;
    return null;
  }
}

async function countOpen(): Promise<Map<string, number>> {
  // Read first: what reads the files below is open itself.
  const kinds = process.getActiveResourcesInfo().filter((kind) => !kind.startsWith('FSReq'));
  const folder = '/proc/self/fd';
  const files = await Promise.all(
    (await readdir(folder)).map((fd) => readlink(`${folder}/${fd}`).catch(() => '')),
  );
  for (const file of files) {
    const [, kind] = watched.exec(file) ?? [];
    if (kind !== undefined) kinds.push(`file ${kind}`);
  }
  const counts = new Map<string, number>();
  for (const kind of kinds) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return counts;
}
