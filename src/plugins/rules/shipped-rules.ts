import { resolve } from 'node:path';

/** Folder of the shipped rules, beside `src/` and `dist/`. */
export const shippedRulesDir = resolve(import.meta.dirname, '../../../rules');
