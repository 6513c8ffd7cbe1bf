/** All rounds are run, however long they take: `npm run test:long`. */
export const isLongRun = process.env['PORTOLAN_TEST_LONG'] === '1';

/** How often a test does what goes wrong only now and then: `all` in a long run, `usual` times otherwise. */
export const rounds = (all: number, usual: number): number => (isLongRun ? all : usual);

/** Mutated answers that one test reads: so many as PORTOLAN_FUZZ says (100000 in a long run), else `usual`. */
export const fuzzRounds = (usual: number): number => Number(process.env['PORTOLAN_FUZZ'] ?? usual);

/** Time limit of such a test, ms. A round takes less than one; what does not end, or grows beyond all measure, runs into it. */
export const fuzzTimeout = (answers: number): number => 20_000 + 10 * answers;
