import { testHostileResponses } from './hostile-responses.ts';

testHostileResponses(Number(process.env['PORTOLAN_FUZZ_ANSWERS'] ?? 120_000));
