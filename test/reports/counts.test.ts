import { testCounts } from './report-counts.ts';

// A small one, one without findings, one that was canceled, one of some size; counts.system.test.ts has many.
testCounts([4, 14, 18, 25]);
