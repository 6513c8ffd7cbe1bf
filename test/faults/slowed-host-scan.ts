import { setTimeout as sleep } from 'node:timers/promises';
import { ServerProcess } from '../program.ts';

/**
 * Scans a host at an adaptive rate, by a server in the network namespace that this is started in, to its end. Argument: JSON.
 * Prints `SlowedOutcome`.
 */
export interface SlowedScan {
  target: string;
  ports: string;
}

export interface SlowedOutcome {
  /** Codes of its warnings when there was the first one, or at its end. */
  first: { status: string; codes: string[] };
  /** Of the ended scan. */
  warnings: { code: string; message: string; target?: string }[];
}

type Seen = Pick<SlowedOutcome, 'warnings'> & { status: string };

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
  const look = async () => {
    const { body } = await server.request(`/api/v1/scans/${scanId}`);
    return (body as { data: Seen }).data;
  };
  let { status, warnings } = await look();
  while (warnings.length === 0 && ['pending', 'running'].includes(status)) {
    await sleep(200);
    ({ status, warnings } = await look());
  }
  const first = { status, codes: warnings.map(({ code }) => code) };
  await server.waitForEnd(scanId);
  ({ warnings } = await look());
  process.stdout.write(JSON.stringify({ first, warnings } satisfies SlowedOutcome));
} finally {
  await server.dispose();
}
