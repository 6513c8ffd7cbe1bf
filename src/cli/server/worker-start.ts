import { type Config, poolForm, poolPattern } from '../../config/schema.ts';
import { defaultPool } from '../../scan-run/plan/decide-request.ts';
import { readConfigQuietly } from '../session/session.ts';
import { usage } from '../terminal/failure.ts';
import { commaList, type GlobalFlags } from '../terminal/globals.ts';
import { onInterrupt } from '../terminal/interrupt.ts';
import type { CliWiring } from '../wiring.ts';

export interface WorkerFlags {
  pool: string;
  queue?: string;
  server?: string;
  caFile?: string;
  concurrency?: number;
  tags?: string;
}

/** Maximum number of labels, and their syntax. */
const maxTags = 20;
const tagForm = /^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/;

/** Runs a worker until a signal stops it; a second one quits at once. @returns 0 after a clean stop */
export async function startWorker(
  flags: WorkerFlags,
  global: GlobalFlags,
  wiring: CliWiring,
): Promise<number> {
  const pools = poolsOf(flags.pool);
  const tags = tagsOf(flags.tags);
  if (flags.server !== undefined || flags.caFile !== undefined)
    process.stderr.write(
      'portolan: --server and --ca-file have no effect: a worker needs the database only\n',
    );
  const { config, warnings } = await readConfigQuietly(global, { 'queue.url': flags.queue });
  checkPools(pools, config);
  const stopping = new AbortController();
  const release = onInterrupt(() => stopping.abort(), 1, ['SIGINT', 'SIGTERM']);
  try {
    const concurrency = flags.concurrency ?? config.server.workers;
    await wiring.runWorker({ config, warnings, pools, tags, concurrency }, stopping.signal);
    return 0;
  } finally {
    release();
  }
}

function poolsOf(text: string): string[] {
  const names = [...new Set(commaList(text))];
  const invalid = names.find((name) => !poolPattern.test(name));
  if (invalid !== undefined || names.length === 0)
    throw usage(`--pool: invalid pool name "${invalid ?? text}": ${poolForm}`);
  return names;
}

/** Rejects a pool that is not configured: its worker would wait forever. */
function checkPools(names: readonly string[], { workers: { pools } }: Config): void {
  if (pools === null) return;
  const known = [...new Set([defaultPool, ...Object.keys(pools)])];
  const invalid = names.find((name) => !known.includes(name));
  if (invalid === undefined) return;
  throw usage(`--pool: unknown pool "${invalid}"; valid names: ${known.join(', ')}`);
}

function tagsOf(text = ''): string[] {
  const tags = [...new Set(commaList(text))];
  const invalid = tags.find((tag) => !tagForm.test(tag));
  if (invalid !== undefined)
    throw usage(`--tags: "${invalid}" is not a label of letters, digits, ".", "_" and "-"`);
  if (tags.length > maxTags) throw usage(`--tags: at most ${maxTags} labels`);
  return tags;
}
