/** Variables available in the condition of a node. */
export interface ConditionVariables {
  vuln: boolean;
  profile: string;
  discover: boolean;
  privileged: boolean;
  compliance: boolean;
  intrusive: boolean;
}

export const conditionVariables = [
  'vuln',
  'profile',
  'discover',
  'privileged',
  'compliance',
  'intrusive',
] as const satisfies readonly (keyof ConditionVariables)[];

export type Condition = (variables: ConditionVariables) => boolean;

type Value = boolean | string;
type Expression = (variables: ConditionVariables) => Value;

const tokenPattern =
  /\s*(?:(\$\{\s*[a-z_]+\s*\})|("(?:[^"\\]|\\.)*"|'[^']*')|(==|!=|!|\(|\)|&&|\|\|)|(and|or|not|true|false)\b)/y;

/**
 * Compiles a condition such as `${vuln} and not ${intrusive}` or `${profile} == "deep"`.
 * @throws Error that states the problem and its position
 */
export function compileCondition(text: string): Condition {
  const parser = new ConditionParser(tokenize(text), text);
  const expression = parser.parse();
  return (variables) => truthy(expression(variables));
}

function truthy(value: Value): boolean {
  return typeof value === 'boolean' ? value : value !== '';
}

function tokenize(text: string): string[] {
  const tokens: string[] = [];
  const pattern = new RegExp(tokenPattern);
  let position = 0;
  while (text.slice(position).trim() !== '') {
    pattern.lastIndex = position;
    const match = pattern.exec(text);
    if (!match) throw new Error(`cannot read the condition at "${text.slice(position).trim().slice(0, 20)}"`);
    tokens.push(match[0].trim());
    position = pattern.lastIndex;
  }
  return tokens;
}

class ConditionParser {
  readonly #tokens: string[];
  readonly #text: string;
  #position = 0;

  constructor(tokens: string[], text: string) {
    this.#tokens = tokens;
    this.#text = text;
  }

  parse(): Expression {
    const expression = this.#or();
    if (this.#position < this.#tokens.length) throw this.#unexpected();
    return expression;
  }

  #or(): Expression {
    let left = this.#and();
    while (this.#take('or', '||')) {
      const [a, b] = [left, this.#and()];
      left = (v) => truthy(a(v)) || truthy(b(v));
    }
    return left;
  }

  #and(): Expression {
    let left = this.#not();
    while (this.#take('and', '&&')) {
      const [a, b] = [left, this.#not()];
      left = (v) => truthy(a(v)) && truthy(b(v));
    }
    return left;
  }

  #not(): Expression {
    if (!this.#take('not', '!')) return this.#comparison();
    const operand = this.#not();
    return (v) => !truthy(operand(v));
  }

  #comparison(): Expression {
    const left = this.#operand();
    if (this.#take('==')) {
      const right = this.#operand();
      return (v) => left(v) === right(v);
    }
    if (this.#take('!=')) {
      const right = this.#operand();
      return (v) => left(v) !== right(v);
    }
    return left;
  }

  #operand(): Expression {
    if (this.#take('(')) {
      const inner = this.#or();
      if (!this.#take(')')) throw this.#unexpected();
      return inner;
    }
    const token = this.#tokens[this.#position];
    if (token === undefined) throw this.#unexpected();
    if (token.startsWith('${')) return this.#variable(token);
    if (token === 'true' || token === 'false') return this.#literal(token === 'true');
    if (/^["']/.test(token)) return this.#literal(token.slice(1, -1).replace(/\\(.)/g, '$1'));
    throw this.#unexpected();
  }

  #variable(token: string): Expression {
    const name = token.slice(2, -1).trim() as keyof ConditionVariables;
    if (!conditionVariables.includes(name)) {
      throw new Error(`unknown variable ${token}; known: ${conditionVariables.join(', ')}`);
    }
    this.#position++;
    return (v) => v[name];
  }

  #literal(value: Value): Expression {
    this.#position++;
    return () => value;
  }

  #take(...tokens: string[]): boolean {
    if (!tokens.includes(this.#tokens[this.#position] ?? '')) return false;
    this.#position++;
    return true;
  }

  #unexpected(): Error {
    const token = this.#tokens[this.#position];
    return new Error(
      `the condition "${this.#text}" ${token ? `has an unexpected "${token}"` : 'ends too early'}`,
    );
  }
}
