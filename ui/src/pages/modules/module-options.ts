/** One option of a module, as its JSON Schema says. */
export interface ModuleOption {
  name: string;
  type: string;
  /** As text; null without one. */
  defaultText: string | null;
  /** "1 to 65,535", "one of fast, safe". */
  allowed: string | null;
  isRequired: boolean;
  description: string;
}

type Schema = Readonly<Record<string, unknown>>;

/** The options of a JSON Schema of an object; what it does not say is left out. */
export function optionsOf(schema: Schema): ModuleOption[] {
  const properties = isObject(schema['properties']) ? schema['properties'] : {};
  const required = Array.isArray(schema['required']) ? schema['required'] : [];
  return Object.entries(properties).map(([name, value]) => {
    const option = isObject(value) ? value : {};
    return {
      name,
      type: typeOf(option),
      defaultText: option['default'] === undefined ? null : valueText(option['default']),
      allowed: allowedOf(option),
      isRequired: required.includes(name),
      description: typeof option['description'] === 'string' ? option['description'] : '',
    };
  });
}

function typeOf(option: Schema): string {
  const { type, format } = option as { type?: unknown; format?: unknown };
  if (format === 'portolan-duration') return 'duration';
  if (type === 'integer') return 'whole number';
  if (type === 'boolean') return 'yes or no';
  return typeof type === 'string'
    ? type === 'string'
      ? 'text'
      : type
    : Array.isArray(type)
      ? type.join(' or ')
      : 'any';
}

function allowedOf(option: Schema): string | null {
  const { enum: words, minimum, maximum } = option;
  if (Array.isArray(words)) return `one of ${words.map(valueText).join(', ')}`;
  const [low, high] = [numberText(minimum), numberText(maximum)];
  if (low !== null && high !== null) return `${low} to ${high}`;
  if (low !== null) return `at least ${low}`;
  return high === null ? null : `at most ${high}`;
}

function numberText(value: unknown): string | null {
  return typeof value === 'number' ? value.toLocaleString('en-US') : null;
}

/** `""` for an empty text, so that it can be seen. */
function valueText(value: unknown): string {
  if (value === '') return '""';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
