import { ServerProcess } from '../program.ts';

/**
 * Scans a host at an adaptive rate, by a server in the network namespace that this is started in, to its end. Argument: JSON.
 * Prints `SlowedOutcome`.
 */
export interface SlowedScan {
  target: string;
  ports: string;
}

/** Of the ended scan. */
export interface SlowedOutcome {
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
  await server.waitForEnd(scanId);
  const { body } = await server.request(`/api/v1/scans/${scanId}`);
  const { warnings } = (body as { data: SlowedOutcome }).data;
  process.stdout.write(JSON.stringify({ warnings }));
} finally {
  await server.dispose();
}
