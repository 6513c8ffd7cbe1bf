import { type Config, poolForm, poolPattern } from '../../config/schema.ts';
import { defaultPool } from '../../scan-run/plan/decide-request.ts';
import { checkServerUrl } from '../session/client.ts';
import { trustAuthorities } from '../session/local-certificate.ts';
import { readConfigQuietly } from '../session/session.ts';
import { usage } from '../terminal/failure.ts';
import type { GlobalFlags } from '../terminal/globals.ts';
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

/** Labels of one worker, and characters of each. */
const maxTags = 20;
const tagForm = /^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/;

/** Runs a worker until a signal ends it; a second one ends it at once. @returns 0 after a clean stop */
export async function startWorker(
  flags: WorkerFlags,
  global: GlobalFlags,
  wiring: CliWiring,
): Promise<number> {
  const pools = poolsOf(flags.pool);
  const tags = tagsOf(flags.tags);
  const homeUrl = flags.server === undefined ? null : checkServerUrl(flags.server);
  if (flags.caFile !== undefined) await trustAuthorities(flags.caFile);
  const { config, warnings } = await readConfigQuietly(global, { 'queue.url': flags.queue });
  checkPools(pools, config);
  const stopping = new AbortController();
  const release = onInterrupt(() => stopping.abort(), 1, ['SIGINT', 'SIGTERM']);
  try {
    const concurrency = flags.concurrency ?? config.server.workers;
    await wiring.runWorker({ config, warnings, pools, tags, concurrency, homeUrl }, stopping.signal);
    return 0;
  } finally {
    release();
  }
}

function poolsOf(text: string): string[] {
  const names = [...new Set(listOf(text))];
  const strange = names.find((name) => !poolPattern.test(name));
  if (strange !== undefined || names.length === 0)
    throw usage(`--pool: "${strange ?? text}" is no name of a pool: ${poolForm}`);
  return names;
}

/** Where the pools are listed, a name that is not there is a slip: its worker would wait for ever. */
function checkPools(names: readonly string[], { workers: { pools } }: Config): void {
  if (pools === null) return;
  const known = [...new Set([defaultPool, ...Object.keys(pools)])];
  const strange = names.find((name) => !known.includes(name));
  if (strange === undefined) return;
  throw usage(`--pool: unknown pool "${strange}"; valid names: ${known.join(', ')}`);
}

function tagsOf(text = ''): string[] {
  const tags = [...new Set(listOf(text))];
  const strange = tags.find((tag) => !tagForm.test(tag));
  if (strange !== undefined)
    throw usage(`--tags: "${strange}" is no label of letters, digits, ".", "_" and "-"`);
  if (tags.length > maxTags) throw usage(`--tags: ${maxTags} labels at most`);
  return tags;
}

function listOf(text: string): string[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}
