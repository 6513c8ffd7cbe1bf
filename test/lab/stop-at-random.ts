import { setTimeout as sleep } from 'node:timers/promises';
import { ServerProcess } from '../program.ts';

/**
 * Runs scans on a server of its own, pauses and cancels them at random moments, and prints from when to when each of
 * them had to be silent, epoch seconds. Arguments: the number of scans, and a submission as JSON.
 */
const [count = '1', submission = '{}'] = process.argv.slice(2);
// The namespace that it runs in leads nowhere else.
const server = new ServerProcess({ env: { SERVICE_SCANNER__SCOPE__ALLOW: '10.82.0.0/16,10.83.0.0/16' } });

async function control(scanId: string, verb: string): Promise<number> {
  const { status } = await server.request(`/api/v1/scans/${scanId}/${verb}`, { method: 'POST' });
  if (status !== 200) throw new Error(`${verb}: ${status}`);
  return Date.now() / 1000;
}

async function expectSilence(verb: string, from: number): Promise<void> {
  await sleep(2500);
  console.log(JSON.stringify({ verb, from, to: Date.now() / 1000 }));
}

try {
  await server.start();
  for (let scan = 0; scan < Number(count); scan++) {
    const scanId = await server.submit(JSON.parse(submission) as Record<string, unknown>);
    await sleep(500 + Math.random() * 3500);
    await expectSilence('pause', await control(scanId, 'pause'));
    await control(scanId, 'resume');
    await sleep(300 + Math.random() * 2000);
    await expectSilence('cancel', await control(scanId, 'cancel'));
  }
} finally {
  await server.dispose();
}
