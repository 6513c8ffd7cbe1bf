import { setTimeout as sleep } from 'node:timers/promises';
import { ServerProcess } from '../program.ts';

/**
 * Runs one scan on a server of its own that is killed twice in the middle and started again, and prints when it was
 * killed (epoch seconds) and what the scan counted. Argument: a submission as JSON.
 */
const [submission = '{}'] = process.argv.slice(2);
const server = new ServerProcess({
  env: {
    // The namespace that it runs in leads nowhere else.
    SERVICE_SCANNER__SCOPE__ALLOW: '10.82.0.0/16',
    // An adaptive rate must not be through before it is killed.
    SERVICE_SCANNER__MAX_RATE: '5000',
  },
});

interface Counted {
  port_counts: Record<'open' | 'closed' | 'filtered' | 'not_tried', number> | null;
}

interface Answer {
  data: { results: Counted[]; summary: { coverage: Counted['port_counts'] } };
}

try {
  await server.start();
  const scanId = await server.submit(JSON.parse(submission) as Record<string, unknown>);
  const killedAt: number[] = [];
  for (const wait of [3000, 2500]) {
    await sleep(wait);
    killedAt.push(Date.now() / 1000);
    await server.stop('SIGKILL');
    await server.start();
  }
  await server.waitForEnd(scanId);
  const { body } = await server.request(`/api/v1/scans/${scanId}/results`);
  const { results, summary } = (body as Answer).data;
  const sum = (name: keyof NonNullable<Counted['port_counts']>) =>
    results.reduce((total, { port_counts }) => total + (port_counts?.[name] ?? 0), 0);
  const counts = {
    hosts: results.length,
    open: sum('open'),
    closed: sum('closed'),
    filtered: sum('filtered'),
    not_tried: sum('not_tried'),
  };
  console.log(JSON.stringify({ killedAt, counts, coverage: summary.coverage }));
} finally {
  await server.dispose();
}
