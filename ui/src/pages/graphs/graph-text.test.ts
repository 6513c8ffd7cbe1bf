import { describe, expect, it } from 'vitest';
import {
  conditionsOf,
  emptyGraph,
  fixOf,
  type GraphProblem,
  lineOfNode,
  nodeText,
  placeOf,
  renamed,
} from './graph-text.ts';

const text = `name: nightly-web
nodes:
  - instance_id: banners
    module_type: banner_grabber
    config: { probes: safe, max_byte: 64 }
  - instance_id: tls
    module_type: tls_parser
    depends_on: [baners]
    condition: "\${vuln} or \${compliance}"
  - { instance_id: report, module_type: json_reporter, depends_on: [tls], condition: vuln }
`;

const dependency: GraphProblem = {
  severity: 'error',
  line: 8,
  column: 17,
  node: 'tls',
  field: 'depends_on',
  message: 'depends on "baners", which is not a node of this graph',
  fix: 'did you mean "banners"?',
};

describe('a problem', () => {
  it('is marked at the word that it names', () => {
    expect(placeOf(text, dependency)).toEqual({ line: 8, column: 18, length: 6 });
  });

  it('of an option is marked at its name', () => {
    const option = {
      ...dependency,
      line: 5,
      column: 13,
      field: 'config.max_byte',
      message: 'option max_byte of banner_grabber is unknown',
      fix: 'did you mean "max_bytes"?',
    };
    expect(placeOf(text, option)).toEqual({ line: 5, column: 29, length: 8 });
    expect(fixOf(text, option)?.text).toContain('max_bytes: 64');
  });

  it('without a word stays where the server says', () => {
    expect(placeOf(text, { ...dependency, message: 'the dependencies form a cycle' })).toEqual({
      line: 8,
      column: 17,
    });
  });

  it('gets the change that the advice amounts to', () => {
    const fix = fixOf(text, dependency);
    expect(fix?.label).toBe('Change to banners');
    expect(fix?.text).toBe(text.replace('[baners]', '[banners]'));
  });

  it('with other advice changes nothing by itself', () => {
    expect(fixOf(text, { ...dependency, fix: 'depend on banners or http' })).toBeNull();
    expect(fixOf(text, { ...dependency, fix: undefined })).toBeNull();
  });

  it('of the name is mended in its line', () => {
    expect(fixOf(text, { ...dependency, fix: 'write name: other' })?.text).toBe(
      text.replace('nightly-web', 'other'),
    );
  });
});

it('finds nodes', () => {
  expect(lineOfNode(text, 'tls')).toBe(6);
  expect(lineOfNode(text, 'report')).toBe(10);
  expect(lineOfNode(text, 't')).toBeNull();
  expect(lineOfNode(text, '(')).toBeNull();
});

it('reads conditions', () => {
  expect([...conditionsOf(text)]).toEqual([
    ['tls', 'if vuln or compliance'],
    ['report', 'if vuln'],
  ]);
});

it('names graphs', () => {
  expect(renamed(text, 'copy')).toMatch(/^name: copy\nnodes:/);
  expect(renamed('nodes: []', 'copy')).toBe('name: copy\nnodes: []');
  expect(emptyGraph('x')).toMatch(/^name: x\n/);
});

it('names new nodes', () => {
  expect(nodeText('http_parser', [])).toContain('instance_id: http\n');
  expect(nodeText('http_parser', ['http', 'http_2'])).toContain('instance_id: http_3\n');
});
