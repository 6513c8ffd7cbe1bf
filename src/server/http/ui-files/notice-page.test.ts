import { expect, it } from 'vitest';
import { htmlFaults } from '../../../../test/valid-html.ts';
import { noticePage } from './notice-page.ts';

it.each([{ commands: ['npm run build', 'portolan server start'] }, {}])(
  'a notice is valid HTML: %j',
  async (more) => {
    const notice = { status: 503, title: 'No pages', paragraphs: ['One.', '<a href="/x">Two</a>.'], ...more };
    expect(await htmlFaults(noticePage(notice))).toEqual([]);
  },
);
