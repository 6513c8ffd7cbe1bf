import { highestRate } from '../../config/schema.ts';
import type { OptionDefs } from '../../engine/options.ts';

/** Options shared by all discovery modules. */
export const discoveryOptions = {
  timeout: {
    Type: 'duration',
    Description: 'Timeout of one probe.',
    Default: '2s',
    Min: 10,
    Max: 300_000,
  },
  retry: {
    Type: 'int',
    Description: 'Retries for a host that does not respond.',
    Default: 2,
    Min: 0,
    Max: 10,
  },
  rate: {
    Type: 'int',
    Description: 'Maximum packets per second of this module; the rate of the scan applies as well.',
    Default: 1000,
    Min: 1,
    Max: highestRate,
  },
} as const satisfies OptionDefs;
