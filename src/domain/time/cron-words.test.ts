import { describe, expect, it } from 'vitest';
import { cronWords } from './cron-words.ts';

describe('a schedule in words', () => {
  it.each([
    ['0 2 * * *', 'every day at 02:00'],
    ['@daily', 'every day at 00:00'],
    ['@weekly', 'at 00:00 on Sunday'],
    ['@yearly', 'at 00:00 on day 1 of the month in January'],
    ['0 2 * * MON-FRI', 'at 02:00 on Monday to Friday'],
    ['30 6,18 * * sat,sun', 'at 06:30 and 18:30 on Sunday and Saturday'],
    ['0 */6 * * *', 'every day at 00:00, 06:00, 12:00 and 18:00'],
    ['0 */2 * * *', 'every 2 hours from midnight'],
    ['10 */2 * * *', 'at minute 10, every 2 hours from midnight'],
    ['* * * * *', 'every minute'],
    ['*/15 * * * *', 'every 15 minutes'],
    ['*/15 8-17 * * 1-5', 'every 15 minutes from 08:00 to 17:59 on Monday to Friday'],
    ['0 * * * *', 'every hour'],
    ['5,35 * * * *', 'at minutes 5 and 35 of every hour'],
    ['0 8-17 * * *', 'every hour from 08:00 to 17:59'],
    ['0 3 1,15 * *', 'at 03:00 on days 1 and 15 of the month'],
    ['0 3 1-7 * FRI-SUN', 'at 03:00 on days 1 to 7 of the month and on Sunday, Friday and Saturday'],
    ['0 3 * 6-8 *', 'at 03:00 every day in June to August'],
    ['0 3 * * 0-6', 'every day at 03:00'],
    ['0 3 * * 7', 'at 03:00 on Sunday'],
  ])('%s is %s', (schedule, words) => {
    expect(cronWords(schedule)).toBe(words);
  });
});
