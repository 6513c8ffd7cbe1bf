/** Process that checks a store file, its argument; prints a JSON list of the faults. */
import { setPriority } from 'node:os';
import { storeFaults } from './integrity.ts';

const lowest = 19;
setPriority(lowest);
process.stdout.write(JSON.stringify(storeFaults(process.argv[2] ?? '')));
