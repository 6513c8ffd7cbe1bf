import { highestRate } from '../../config/schema.ts';
import type { OptionDefs } from '../../engine/options.ts';

/** Options that all scanners share. */
export const scanOptions = {
  ports: {
    Type: 'string',
    Description: 'Ports to scan: numbers, ranges, service names, common, top-N or all.',
    Default: '1-1000',
  },
  rate: {
    Type: 'int',
    Description: 'Most packets per second that this module sends; the rate of the scan holds as well.',
    Default: 1000,
    Min: 1,
    Max: highestRate,
  },
  timeout: {
    Type: 'duration',
    Description: 'How long one probe waits for an answer.',
    Default: '3s',
    Min: 10,
    Max: 300_000,
  },
  protocol: {
    Type: 'string',
    Description: 'Transport protocol of the ports.',
    Default: 'tcp',
    Enum: ['tcp', 'udp'],
  },
  retries: {
    Type: 'int',
    Description: 'Further tries for a port that does not answer.',
    Default: 1,
    Min: 0,
    Max: 10,
  },
  concurrency: {
    Type: 'int',
    Description: 'Probes that are under way at the same time.',
    Default: 100,
    Min: 1,
    Max: 10_000,
  },
  exclude_ports: {
    Type: 'string',
    Description: 'Ports that are left out, written like ports.',
    Default: '',
  },
} as const satisfies OptionDefs;
