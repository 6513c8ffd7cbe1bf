import { InvalidArgumentError, Option } from 'commander';
import { defaultPriority, maxPriority } from '../../domain/scan.ts';

/** `--priority`. */
export function priorityOption(): Option {
  const text = `of waiting scans the highest start first, 0 to ${maxPriority} (default: ${defaultPriority})`;
  return new Option('--priority <n>', text).argParser((given) => {
    if (/^\d$/.test(given)) return Number(given);
    throw new InvalidArgumentError(`Use a whole number from 0 to ${maxPriority}.`);
  });
}
