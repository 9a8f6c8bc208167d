/** Folders that must be refused, each with everything that is said about it, in the order in which it is said. */
export type BadFolder = {
  name: string
  folder?: string
  files: Record<string, string | Uint8Array>
  says: string[]
}

const CODE = 'export default () => ({})\n'

/** An agent.md of the given front matter, beside an agent.ts that is right. */
const document = (...lines: string[]) => ({
  'agent.md': ['---', ...lines, '---', 'Text.', ''].join('\n'),
  'agent.ts': CODE,
})

/** Front matter that is right but for the lines given, which begin on line 5. */
const withLines = (...lines: string[]) => document('title: T', 'code: true', 'output: {}', ...lines)

export const badFolders: BadFolder[] = [
  {
    name: 'no folder',
    files: {},
    says: ['foo/agent.md:1: is missing: there is no such folder'],
  },
  {
    name: 'no agent.md',
    files: { 'agent.ts': CODE },
    says: ['foo/agent.md:1: is missing: it is what makes a folder an agent'],
  },
  {
    name: 'a file in place of the folder',
    folder: '.keep',
    files: {},
    says: ['.keep/agent.md:1: is missing: its folder is a file'],
  },
  {
    name: 'a description whose comma cuts it in two',
    files: withLines('input: { text: { type: string, description: One, or two. } }'),
    says: [
      'foo/agent.md:5: input.text.or two.: is not a known field; a text that holds a comma must stand in quotes here',
    ],
  },
  {
    name: 'a model agent without instructions',
    files: { 'agent.md': '---\ntitle: T\ninput: {}\noutput: {}\n---\n' },
    says: [
      'foo/agent.md:2: instructions: are missing: the text below the front matter tells the model what to do',
    ],
  },
  {
    name: 'a code agent with a model',
    files: withLines('model: openai/gpt-5', 'input: {}'),
    says: ['foo/agent.md:5: model: must be left out: a code agent runs no model'],
  },
  {
    name: 'a tool of no kind, with an unknown field',
    files: {
      'agent.md': '---\ntitle: T\ninput: {}\noutput: {}\ntools:\n  - name: t\n    htp: {}\n---\nText.\n',
    },
    says: [
      'foo/agent.md:6: tools.0: must have exactly one of http, lambda, mcp, agent, and has none of them',
      'foo/agent.md:7: tools.0.htp: is not a known field; did you mean "http"?',
    ],
  },
  {
    name: 'no front matter',
    files: { 'agent.md': '# Foo\n---\ntitle: T\n---\n', 'agent.ts': CODE },
    says: ['foo/agent.md:1: front matter: must begin the file, between two lines of "---"'],
  },
  {
    name: 'front matter that does not begin on the first line',
    files: { 'agent.md': '---foo\n---\ntitle: T\n---\n', 'agent.ts': CODE },
    says: ['foo/agent.md:1: front matter: must begin the file, between two lines of "---"'],
  },
  {
    name: 'front matter without an end',
    files: { 'agent.md': '---\ntitle: T\ncode: true\n', 'agent.ts': CODE },
    says: ['foo/agent.md:1: front matter: must begin the file, between two lines of "---"'],
  },
  {
    name: 'empty front matter',
    files: { 'agent.md': '---\n---\n', 'agent.ts': CODE },
    says: ['foo/agent.md:2: front matter: is empty; it must be a mapping of names to values'],
  },
  {
    name: 'bytes that are no UTF-8',
    files: { 'agent.md': Buffer.from('---\ntitle: Caf\xe9\n---\n', 'latin1'), 'agent.ts': CODE },
    says: ['foo/agent.md:1: is not UTF-8 text'],
  },
  {
    name: 'a document that is too large',
    files: { 'agent.md': `---\n---\n${'x'.repeat(150_001)}`, 'agent.ts': CODE },
    says: ['foo/agent.md:1: is larger than 150000 bytes'],
  },
  {
    name: 'aliases that expand to too much',
    files: withLines(
      'input:',
      `  a: &a { type: string, description: ${'x'.repeat(1900)} }`,
      ...Array.from({ length: 95 }, (_, i) => `  a${i}: *a`),
    ),
    says: ['foo/agent.md:1: expands to 186546 bytes; 150000 are allowed'],
  },
  {
    name: 'bad YAML, on two lines',
    files: document('title: T', 'title: U', 'code: true', 'input: [', 'output: {}'),
    says: [
      'foo/agent.md:3: front matter: is not YAML: Map keys must be unique',
      'foo/agent.md:6: front matter: is not YAML: Flow sequence in block collection must be sufficiently indented and end with a ]',
    ],
  },
  {
    name: 'an alias of nothing',
    files: withLines('input: *nothing'),
    says: [
      'foo/agent.md:1: front matter: cannot be used: Unresolved alias (the anchor must be set before the alias): nothing',
    ],
  },
  {
    name: 'a missing title and output',
    files: document('code: true', 'input: {}'),
    says: [
      'foo/agent.md:2: title: is missing; it must be a text',
      'foo/agent.md:2: output: is missing; it must map each field name to { type, description }',
    ],
  },
  {
    name: 'values of the wrong type',
    files: document('title: 3', 'code: yes', 'input: []', 'output: {}', 'tools: {}', 'description: [a]'),
    says: [
      'foo/agent.md:2: title: is 3; it must be a text',
      'foo/agent.md:3: code: is "yes"; it must be true or false',
      'foo/agent.md:4: input: must map each field name to { type, description }',
      'foo/agent.md:6: tools: is a mapping; it must be a list',
      'foo/agent.md:7: description: is a list; it must be a text',
    ],
  },
  {
    name: 'values beyond their limits',
    files: withLines(
      'input: {}',
      'execution:',
      '  maxAgentSteps: 900',
      '  timeoutSeconds: 1.5',
      '  cacheTtlSeconds: 0',
      'model: ""',
    ),
    says: [
      'foo/agent.md:7: execution.maxAgentSteps: must be at most 500',
      'foo/agent.md:8: execution.timeoutSeconds: is 1.5; it must be a whole number',
      'foo/agent.md:9: execution.cacheTtlSeconds: must be at least 1',
      'foo/agent.md:10: model: cannot be used: The model "" names no known provider: write "{provider}/{model}" or "{provider}/{model}:{reasoning}" with one of bedrock, anthropic, openai, openai-compatible.',
    ],
  },
  {
    name: 'unknown keys near known ones, and one far from any',
    files: withLines('inputs: {}', 'input: {}', 'execution: { useCach: true }', 'flavour: mild'),
    says: [
      'foo/agent.md:5: inputs: is not a known field; did you mean "input"?',
      'foo/agent.md:7: execution.useCach: is not a known field; did you mean "useCache"?',
      'foo/agent.md:8: flavour: is not a known field; known ones are title, description, slug, input, output, model, tools, code, execution',
    ],
  },
  {
    name: 'nested fields of the wrong type',
    files: withLines(
      'input:',
      '  name: string',
      '  total:',
      '    description: No type.',
      '  order:',
      '    type: object',
      '    properties:',
      '      lines:',
      '        type: array',
      '        items:',
      '          type: strng',
      '          descripton: Misspelt.',
      '  code: { type: string, required: yes, minLength: 3 }',
    ),
    says: [
      'foo/agent.md:6: input.name: is "string"; it must be a mapping such as { type: string, description: … }',
      'foo/agent.md:7: input.total.type: is missing; it must be one of string, number, integer, boolean, object, array, null',
      'foo/agent.md:15: input.order.properties.lines.items.type: is "strng"; it must be one of string, number, integer, boolean, object, array, null; did you mean "string"?',
      'foo/agent.md:16: input.order.properties.lines.items.descripton: is not a known field; did you mean "description"?',
      'foo/agent.md:17: input.code.required: is "yes"; it must be true or false',
      'foo/agent.md:17: input.code.minLength: is not a known field; known ones are type, description, required, enum, items, properties, default',
    ],
  },
  {
    name: 'defaults and choices that do not match their type',
    files: withLines(
      'input:',
      '  total: { type: number, default: none }',
      '  kind:',
      '    type: string',
      '    enum: [a, 1]',
      '    default: c',
      '  list: { type: array, items: { type: number }, default: [1, x] }',
      '  odd: { type: string, items: { type: string } }',
      '  empty: { type: string, enum: [] }',
    ),
    says: ['foo/agent.md:13: input.empty.enum: must not be empty'],
  },
  {
    name: 'defaults and choices that do not match their type, in fields of the right form',
    files: withLines(
      'input:',
      '  total: { type: number, default: none }',
      '  kind:',
      '    type: string',
      '    enum: [a, 1]',
      '    default: c',
      '  list: { type: array, items: { type: number }, default: [1, x] }',
      '  odd: { type: object, properties: { a: { type: string, items: { type: string } } } }',
    ),
    says: [
      'foo/agent.md:6: input.total.default: is "none", which is not of type number',
      'foo/agent.md:9: input.kind.enum: holds 1, which is not of type string',
      'foo/agent.md:10: input.kind.default: is "c", which the enum does not hold',
      'foo/agent.md:11: input.list.default: is [1,"x"], which does not match the field',
      'foo/agent.md:12: input.odd.properties.a.items: needs type: array',
    ],
  },
  {
    name: 'a whole JSON Schema that is none',
    files: withLines(
      'input:',
      '  type: object',
      '  required: name',
      '  properties:',
      '    name: { type: strng }',
      '    age:',
      '      type: integer',
      '      minimum: low',
    ),
    says: [
      'foo/agent.md:7: input.required: is not JSON Schema (2020-12): must be array',
      'foo/agent.md:9: input.properties.name.type: is not JSON Schema (2020-12): must be equal to one of the allowed values (array, boolean, integer, null, number, object, string)',
      'foo/agent.md:12: input.properties.age.minimum: is not JSON Schema (2020-12): must be number',
    ],
  },
  {
    name: 'a whole JSON Schema with an unknown keyword',
    files: withLines(
      'input:',
      '  type: object',
      '  properties:',
      '    name:',
      '      type: string',
      '      minLenght: 1',
    ),
    says: [
      'foo/agent.md:10: input.properties.name.minLenght: is not JSON Schema (2020-12): unknown keyword: "minLenght"',
    ],
  },
  {
    name: 'a whole JSON Schema of another dialect, and one of no object',
    files: document(
      'title: T',
      'code: true',
      'input:',
      '  $schema: http://json-schema.org/draft-07/schema#',
      '  type: object',
      'output:',
      '  type: array',
    ),
    says: [
      'foo/agent.md:5: input.$schema: must be https://json-schema.org/draft/2020-12/schema, or left out',
      'foo/agent.md:8: output.type: must be "object" for a whole JSON Schema',
    ],
  },
  {
    name: 'a slug that is none',
    files: withLines('input: {}', 'slug: Foo Bar'),
    says: [
      'foo/agent.md:6: slug: must be lowercase words joined by hyphens, at most 64 characters, and not a UUID',
    ],
  },
  {
    name: "a folder's name that is no slug",
    folder: 'Foo Bar',
    files: withLines('input: {}'),
    says: [
      'Foo Bar/agent.md:2: slug: is missing, and the folder\'s name "Foo Bar" is not lowercase words joined by hyphens',
    ],
  },
  {
    name: 'lines that end in CR LF, after a byte order mark',
    files: {
      'agent.md': '\uFEFF---\r\ntitle: T\r\ncode: 1\r\ninput: {}\r\noutput: {}\r\n---\r\n',
      'agent.ts': CODE,
    },
    says: ['foo/agent.md:3: code: is 1; it must be true or false'],
  },
  {
    name: 'code without agent.ts',
    files: { 'agent.md': withLines('input: {}')['agent.md'] },
    says: [
      'foo/agent.md:3: code: is true, but the folder has none of agent.ts, agent.mts, agent.js, agent.mjs',
    ],
  },
  {
    name: 'agent.ts without code: true',
    files: document('title: T', 'code: false', 'input: {}', 'output: {}'),
    says: ['foo/agent.md:3: code: must be true for agent.ts to run'],
  },
  {
    name: 'a syntax error in agent.ts',
    files: { ...withLines('input: {}'), 'agent.ts': 'const a = 1\n\nexport default (=> a\n' },
    says: ['foo/agent.ts:3: Unexpected "=>"'],
  },
  {
    name: 'a syntax error in a module that agent.ts imports, and an import of nothing',
    files: {
      ...withLines('input: {}'),
      'agent.ts': "import './lib/broken.ts'\nimport 'no-such-package'\nexport default () => ({})\n",
      'lib/broken.ts': 'export const a = 1\nconst const\n',
    },
    says: [
      'foo/agent.ts:2: Could not resolve "no-such-package"',
      'foo/lib/broken.ts:2: Expected identifier but found "const"',
    ],
  },
  {
    name: 'no default export',
    files: { ...withLines('input: {}'), 'agent.ts': 'export const run = () => ({})\n' },
    says: ['foo/agent.ts:1: must default-export a function run(input, context)'],
  },
  {
    name: 'a bad document and bad code at once',
    files: { ...document('code: true', 'input: {}', 'output: {}'), 'agent.ts': 'export const run = 1\n' },
    says: [
      'foo/agent.md:2: title: is missing; it must be a text',
      'foo/agent.ts:1: must default-export a function run(input, context)',
    ],
  },
]
