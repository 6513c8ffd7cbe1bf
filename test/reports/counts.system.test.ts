import { rounds } from '../rounds.ts';
import { testCounts } from './report-counts.ts';

testCounts(Array.from({ length: rounds(30, 10) }, (_, index) => index + 1));
