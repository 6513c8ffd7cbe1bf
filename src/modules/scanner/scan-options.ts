import { highestRate } from '../../config/schema.ts';
import type { OptionDefs } from '../../engine/options.ts';

/** Options shared by all scanners. */
export const scanOptions = {
  ports: {
    Type: 'string',
    Description: 'Ports to scan: numbers, ranges, service names, common, top-N or all.',
    Default: '1-1000',
  },
  rate: {
    Type: 'int',
    Description: 'Maximum packets per second of this module; the rate of the scan applies as well.',
    Default: 1000,
    Min: 1,
    Max: highestRate,
  },
  timeout: {
    Type: 'duration',
    Description: 'Timeout of one probe.',
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
    Description: 'Retries for a port that does not respond.',
    Default: 1,
    Min: 0,
    Max: 10,
  },
  concurrency: {
    Type: 'int',
    Description:
      'Maximum number of probes in flight; 0 = from 100 up to 1000, as this machine and the targets bear.',
    Default: 100,
    Min: 0,
    Max: 10_000,
  },
  exclude_ports: {
    Type: 'string',
    Description: 'Ports to exclude, in the syntax of ports.',
    Default: '',
  },
} as const satisfies OptionDefs;
