import { testHostileAnswers } from './hostile-answers.ts';

testHostileAnswers(Number(process.env['PORTOLAN_FUZZ_ANSWERS'] ?? 120_000));
