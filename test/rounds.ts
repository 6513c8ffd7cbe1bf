/** All rounds are run, however long they take: `npm run test:long`. */
export const isLongRun = process.env['PORTOLAN_TEST_LONG'] === '1';

/** How often a test does what goes wrong only now and then: `all` in a long run, `usual` times otherwise. */
export const rounds = (all: number, usual: number): number => (isLongRun ? all : usual);
