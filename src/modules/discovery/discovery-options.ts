import { highestRate } from '../../config/schema.ts';
import type { OptionDefs } from '../../engine/options.ts';

/** Options that all discovery modules share. */
export const discoveryOptions = {
  timeout: {
    Type: 'duration',
    Description: 'How long one probe waits for an answer.',
    Default: '2s',
    Min: 10,
    Max: 300_000,
  },
  retry: {
    Type: 'int',
    Description: 'Further tries for a host that does not answer.',
    Default: 2,
    Min: 0,
    Max: 10,
  },
  rate: {
    Type: 'int',
    Description: 'Most packets per second that this module sends; the rate of the scan holds as well.',
    Default: 1000,
    Min: 1,
    Max: highestRate,
  },
} as const satisfies OptionDefs;
