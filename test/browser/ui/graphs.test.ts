import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { canRun, looks, type OpenOptions, UiBrowser, type UiPage } from './ui-page.ts';
import { UiService } from './ui-service.ts';

/** What these tests open, as the table of pages has it. */
const [list, one] = ['/graphs', '/graphs/$name'];

const own = `name: nightly-web
description: Web ports
nodes:
  - instance_id: ping
    module_type: tcp_probe_discovery
  - instance_id: connect
    module_type: connect_scanner
    depends_on: [ping]
  - instance_id: report
    module_type: json_reporter
    depends_on: [connect]
`;

describe.runIf(canRun('graphs'))('the pages of graphs', () => {
  let browser: UiBrowser;
  let service: UiService;
  const pages: UiPage[] = [];
  beforeAll(async () => {
    browser = await UiBrowser.launch();
    service = await UiService.start();
    await service.call('PUT', '/api/v1/dags/nightly-web', { text: own });
  });
  afterAll(async () => {
    await browser?.close();
    await service?.dispose();
  });

  async function visit(path: string, options: OpenOptions = {}): Promise<UiPage> {
    for (const old of pages.splice(0)) await old.close();
    const ui = await browser.open(service, path, options);
    pages.push(ui);
    return ui;
  }
  const editor = (ui: UiPage) => ui.page.getByRole('textbox', { name: /^Text of the graph/ });
  /** Nodes of the picture, which phones do not have. */
  const drawn = async (ui: UiPage) => {
    if (ui.look.width > 390)
      await ui.page.locator('.react-flow__edge-path').first().waitFor({ state: 'attached' });
  };
  const problems = (ui: UiPage) => ui.page.getByRole('region', { name: 'Problems' });

  describe.each(looks)('at $width px, $theme', (look) => {
    it(`list them: ${list}`, async () => {
      const ui = await visit('/graphs', look);
      await ui.page.getByRole('row', { name: /nightly-web/ }).waitFor();
      await ui.picture('graphs');
      await ui.expectGood();
    });

    it(`show one with its picture: ${one}`, async () => {
      const ui = await visit('/graphs/standard', look);
      await problems(ui).getByText('None. Scans can run this graph.').waitFor();
      await ui.page.getByRole('list', { name: 'Stages of standard' }).getByText('json_reporter').waitFor();
      await drawn(ui);
      await ui.picture('graph-builtin');
      await ui.expectGood();
    });

    it('show problems at the line, at the node and below', async () => {
      const ui = await visit('/graphs/nightly-web', look);
      await editor(ui).fill(own.replace('[ping]', '[pingg]'));
      await problems(ui).getByText('depends on "pingg", which is not a node of this graph').waitFor();
      await drawn(ui);
      await ui.picture('graph-problems');
      await ui.expectGood();
      await ui.page.getByRole('button', { name: 'Discard' }).click();
    });
  });

  it('mend and save a text by keys alone', async () => {
    const ui = await visit('/graphs/nightly-web');
    ui.keyboardOnly();
    await editor(ui).waitFor();
    await ui.tabTo(editor(ui));
    await ui.press('Control+End');
    await ui.type('  - instance_id: tls');
    await ui.press('Enter');
    await ui.type('  module_type: tls_parser\n');
    await problems(ui)
      .getByText(/requires/)
      .first()
      .waitFor();
    await ui.press('F8');
    await expect.poll(() => ui.page.getByText(/^Line \d+: /).count()).toBe(1);
    await ui.press('Control+a');
    await ui.type(own.replaceAll('\n', '\r').replace('Web ports', 'Web ports, all of them'));
    await ui.expectClean();
  });

  it('apply the change that the server advises, and save it', async () => {
    const ui = await visit('/graphs/nightly-web');
    await editor(ui).fill(own.replace('[ping]', '[pingg]').replace('Web ports', 'All web ports'));
    await ui.choose(problems(ui).getByRole('button', { name: 'Change to ping' }));
    await problems(ui).getByText('None. Scans can run this graph.').waitFor();
    await ui.tabTo(editor(ui), { backward: true });
    await ui.press('Control+s');
    await ui.page.getByText('Graph nightly-web saved').waitFor();
    const saved = await service.call<{ text: string }>('GET', '/api/v1/dags/nightly-web');
    expect(saved.text).toBe(own.replace('Web ports', 'All web ports'));
    await ui.expectClean();
  });

  it('insert a module by keys alone, which stands in the text and in the picture', async () => {
    const ui = await visit('/graphs/nightly-web');
    ui.keyboardOnly();
    await problems(ui).getByText('None. Scans can run this graph.').waitFor();
    const before = await editor(ui).inputValue();
    await ui.choose(ui.page.getByRole('button', { name: 'Insert module' }));
    const dialog = ui.page.getByRole('dialog', { name: 'Insert a module' });
    await dialog.getByRole('button', { name: /banner_grabber/ }).waitFor();
    await expect.poll(() => ui.focused()).toMatch(/^input/);
    await ui.picture('graph-insert', { fullPage: false });
    await ui.expectGood();
    await ui.type('banner');
    await expect.poll(() => dialog.getByRole('listitem').count()).toBeLessThan(4);
    await ui.choose(dialog.getByRole('button', { name: /banner_grabber/ }));
    await dialog.waitFor({ state: 'detached' });
    expect(await editor(ui).inputValue()).toMatch(/module_type: banner_grabber/);
    await ui.page.getByRole('list', { name: 'Stages of nightly-web' }).getByText('banner_grabber').waitFor();
    // The new node is where the reader goes on.
    await expect.poll(() => ui.focused()).toMatch(/^textarea/);
    await ui.press('Shift+Tab');
    await ui.choose(ui.page.getByRole('button', { name: 'Discard' }));
    await expect.poll(() => editor(ui).inputValue()).toBe(before);
    await ui.expectClean();
  });

  it('lead by keys from a node of the picture to its line, and zoom', async () => {
    const ui = await visit('/graphs/nightly-web');
    await drawn(ui);
    ui.keyboardOnly();
    const stages = ui.page.getByRole('list', { name: 'Stages of nightly-web' });
    await ui.tabTo(stages.getByRole('button', { name: /connect_scanner/ }));
    await ui.press('Enter');
    await expect.poll(() => ui.focused()).toMatch(/^textarea/);
    const before = (await editor(ui).evaluate(textBeforeCaret)) as string;
    expect(before.split('\n').length).toBe(
      own.split('\n').findIndex((line) => line.includes('id: connect')) + 1,
    );
    const zoom = ui.page.getByRole('button', { name: /show at 100 %/ });
    await ui.choose(zoom);
    await expect.poll(() => zoom.textContent()).toContain('100 %,');
    await ui.choose(ui.page.getByRole('button', { name: /^Fit/ }));
    await ui.expectGood();
  });

  it('keep the last picture while a text cannot be read', async () => {
    const ui = await visit('/graphs/nightly-web');
    await ui.page.getByRole('list', { name: 'Stages of nightly-web' }).getByText('connect_scanner').waitFor();
    await editor(ui).fill('nodes: [');
    await ui.page.getByText('picture of the last text that could be read').waitFor();
    await ui.page.getByRole('list', { name: 'Stages of nightly-web' }).getByText('connect_scanner').waitFor();
    await ui.page.getByRole('button', { name: 'Discard' }).click();
    await expect.poll(() => editor(ui).inputValue()).toContain('nightly-web');
    await ui.expectClean();
  });

  it('do not lose a text that was not saved', async () => {
    const ui = await visit('/graphs/nightly-web');
    await editor(ui).fill(own.replace('Web ports', 'Half a thought'));
    await ui.page.getByText('changed, not saved').waitFor();
    await ui.page.reload();
    await expect.poll(() => editor(ui).inputValue()).toContain('Half a thought');
    await ui.page.getByRole('button', { name: 'Discard' }).click();
    await ui.expectClean();
  });

  it('refuse to replace what somebody else has changed', async () => {
    const ui = await visit('/graphs/nightly-web');
    await editor(ui).fill(own.replace('Web ports', 'Mine'));
    await problems(ui).getByText('None. Scans can run this graph.').waitFor();
    const theirs = own.replace('Web ports', 'Theirs');
    await service.call('DELETE', '/api/v1/dags/nightly-web');
    await service.call('PUT', '/api/v1/dags/nightly-web', { text: theirs });
    await ui.page.getByRole('button', { name: 'Save', exact: true }).click();
    await ui.page.getByRole('button', { name: 'Load theirs' }).click();
    await expect.poll(() => editor(ui).inputValue()).toBe(theirs);
    await ui.expectClean(/status of 4\d\d/);
  });

  it('make a copy of a builtin graph, and delete it', async () => {
    const ui = await visit('/graphs/standard');
    ui.keyboardOnly();
    await ui.choose(ui.page.getByRole('button', { name: 'Make a copy…' }));
    await ui.tabTo(ui.page.getByRole('textbox', { name: 'Name' }));
    await ui.press('Control+a');
    await ui.type('mine');
    await ui.press('Enter');
    await expect.poll(() => editor(ui).inputValue()).toMatch(/^name: mine/m);
    await problems(ui).getByText('None. Scans can run this graph.').waitFor();
    await ui.choose(ui.page.getByRole('button', { name: 'Save', exact: true }));
    await ui.page.getByText('Graph mine saved').waitFor();
    await ui.choose(ui.page.getByRole('button', { name: 'More actions for mine' }));
    await ui.menuItem('Delete graph…');
    await ui.press('End', 'Enter');
    await expect.poll(() => ui.focused()).toBe('button "Keep"');
    await ui.choose(ui.page.getByRole('button', { name: 'Delete graph', exact: true }));
    await ui.page.getByRole('heading', { name: 'Graphs' }).waitFor();
    await ui.expectClean();
  });
});

const textBeforeCaret = (element: unknown): string => {
  const { value, selectionStart } = element as { value: string; selectionStart: number };
  return value.slice(0, selectionStart);
};
