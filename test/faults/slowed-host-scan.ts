import { setTimeout as sleep } from 'node:timers/promises';
import { ServerProcess } from '../program.ts';

/**
 * Scans a host at an adaptive rate, by a server in the network namespace that this is started in, until a host is named as
 * slowed or the scan has ended, and cancels the scan. Argument: JSON. Prints `SlowedOutcome`.
 */
export interface SlowedScan {
  target: string;
  ports: string;
}

/** The scan when the host was named, or at its end. */
export interface SlowedOutcome {
  status: string;
  warnings: { code: string; message: string; target?: string }[];
}

const { target, ports } = JSON.parse(process.argv[2] ?? '{}') as SlowedScan;
const server = new ServerProcess({ env: { SERVICE_SCANNER__SCOPE__ALLOW: target } });
try {
  await server.start();
  const scanId = await server.submit({
    targets: [target],
    dag: 'port-scan',
    ports,
    rate: 'auto',
    options: { scan_type: 'syn', discover: false },
  });
  for (;;) {
    await sleep(100);
    const { body } = await server.request(`/api/v1/scans/${scanId}`);
    const { status, warnings } = (body as { data: SlowedOutcome }).data;
    const isSlowed = warnings.some(({ code }) => code === 'host_slowed');
    if (!isSlowed && ['pending', 'queued', 'running'].includes(status)) continue;
    if (status === 'running') await server.request(`/api/v1/scans/${scanId}/cancel`, { method: 'POST' });
    process.stdout.write(JSON.stringify({ status, warnings }));
    break;
  }
} finally {
  await server.dispose();
}
