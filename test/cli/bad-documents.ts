import { PROVIDERS } from '../../lib/models/providers/providers.ts'
import { TOOL_KINDS } from '../../lib/tools/document/tool-fields.ts'

/** Folders that `publish` rejects, with all problems in the order of the output. */
export type BadFolder = {
  name: string
  folder?: string
  files: Record<string, string | Uint8Array>
  expected: string[]
}

const CODE = 'export default () => ({})\n'
const PROVIDER_LIST = PROVIDERS.join(', ')

/** The first lines of the front matter of each kind. `code` and `bare` have an agent.ts. */
const KINDS: Record<string, string[]> = {
  code: ['title: T', 'code: true', 'output: {}'],
  model: ['title: T', 'input: {}', 'output: {}'],
  bare: [],
  text: [],
}

/** An agent.md with the given front matter, and a valid agent.ts. */
const document = (...lines: string[]) => ({
  'agent.md': ['---', ...lines, '---', 'Text.', ''].join('\n'),
  'agent.ts': CODE,
})

/** Valid front matter, followed by the given lines from line 5 on. */
const withLines = (...lines: string[]) => document(...(KINDS.code ?? []), ...lines)

/** Kind and name, the lines after those of the kind, and the problems, each after an exclamation mark. */
const DOCUMENTS = `
code: an unquoted description with a comma
input: { text: { type: string, description: One, or two. } }
! 5:50: input.text.or two.: unknown field; a string that contains a comma must be quoted here

model: a model agent that requires tools and has none
requireTools: true
! 5:1: requireTools: must be omitted: the agent has no tools

code: files in the wrong places
input: { a: { type: file, mediaTypes: [image/tiff] }, b: { type: file, maxBytes: 5000000 }, c: { type: string, mediaTypes: [image/png] } }
tools: [{ name: t, description: D, input: { d: { type: file } }, lambda: { function: f } }]
! 5:40: input.a.mediaTypes.0: must be one of application/pdf, image/png, image/jpeg, image/gif, image/webp, not "image/tiff"; did you mean "image/gif"?
! 5:72: input.b.maxBytes: must be at most 4500000
! 6:50: tools.0.input.d.type: "file" is possible only in the input of an agent

code: a code agent with a model, a tool and a budget
model: openai/gpt-5
input: {}
tools: [{ name: t, agent: other }]
execution: { maxTokens: 1000, maxParallelToolCalls: 5, models: [openai/gpt-5] }
learning: { feedback: all }
requireTools: true
! 5:1: model: must be omitted: a code agent has no model
! 7:1: tools: must be omitted: a code agent has no model that could call tools
! 10:1: requireTools: must be omitted: a code agent has no model that could call tools
! 8:56: execution.models: must be omitted: a code agent has no model that a call could override
! 9:1: learning: must be omitted: a code agent does not learn
! 8:31: execution.maxParallelToolCalls: must be omitted: a code agent has no model that could call tools
! 8:14: execution.maxTokens: must be omitted: the service does not see what the code of an agent spends

model: a tool without a kind and with an unknown field
tools:
  - name: t
    htp: {}
! 6:5: tools.0: must have exactly one of ${TOOL_KINDS.join(', ')}, but has none
! 7:5: tools.0.htp: unknown field; did you mean "http"?

bare: invalid YAML on two lines
title: T
title: U
code: true
input: [
output: {}
! 3:1: front matter: invalid YAML: Map keys must be unique
! 6:1: front matter: invalid YAML: Flow sequence in block collection must be sufficiently indented and end with a ]

code: an unresolved alias
input: *nothing
! 1:1: front matter: invalid YAML: Unresolved alias (the anchor must be set before the alias): nothing

bare: a missing title and output
code: true
input: {}
! 2:1: title: is required and must be a string
! 2:1: output: is required and must be an object that maps field names to { type, description }

bare: values of the wrong type
title: 3
code: yes
input: []
output: {}
tools: {}
description: [a]
! 2:1: title: must be a string, not 3
! 3:1: code: must be a boolean, not "yes"
! 4:1: input: must be an object that maps field names to { type, description }
! 6:1: tools: must be an array, not an object
! 7:1: description: must be a string, not an array

code: invalid scorers
input: {}
scorers: [{ agent: Faithful, min: 1.5, sample: -1, tolerence: 0.1 }]
! 6:13: scorers.0.agent: must be the slug of an agent
! 6:30: scorers.0.min: must be at most 1
! 6:40: scorers.0.sample: must be at least 0
! 6:52: scorers.0.tolerence: unknown field; did you mean "tolerance"?

code: a scorer of itself and one that is named twice
input: {}
scorers: [{ agent: foo }, { agent: b }, { agent: b }]
! 6:13: scorers.0.agent: must be another agent: none scores itself
! 6:43: scorers.2.agent: must not name "b" twice

code: a gate for the scores of another agent
input: {}
scorers: [{ agent: tone }]
execution: { promotion: { require: trial, scores: { faithful: { min: 0.8 } } } }
! 7:53: execution.promotion.scores.faithful: must be one of the scorers of the document: tone

code: values outside of their limits
input: {}
execution:
  maxAgentSteps: 900
  timeoutSeconds: 1.5
  cacheTtlSeconds: 0
  maxParallelToolCalls: 101
  maxChildren: 0
model: ""
scorers: []
learning: { feedback: mine, feedbak: all }
context: { window: 900, keep: -1, kep: 1 }
slug: Foo Bar
! 7:3: execution.maxAgentSteps: must be at most 500
! 8:3: execution.timeoutSeconds: must be an integer, not 1.5
! 9:3: execution.cacheTtlSeconds: must be at least 1
! 10:3: execution.maxParallelToolCalls: must be at most 100
! 11:3: execution.maxChildren: must be at least 1
! 12:1: model: The model name "" has no known provider. Use "{provider}/{model}" or "{provider}/{model}:{reasoning}" with one of ${PROVIDER_LIST}.
! 13:1: scorers: must not be empty
! 14:13: learning.feedback: must be one of reviewed, all, not "mine"
! 14:29: learning.feedbak: unknown field; did you mean "feedback"?
! 15:12: context.window: must be at least 1000
! 15:25: context.keep: must be at least 0
! 15:35: context.kep: unknown field; did you mean "keep"?
! 16:1: slug: must be lowercase words joined by hyphens, at most 64 characters, and not a UUID

code: an invalid gate
input: {}
execution:
  promotion:
    require: trail
    maxChanged: -1
    maxError: 0.5
    minRuns: 0
    maxRegresed: 0
    scores:
      faithful: { maxDrop: -0.1, maxdrop: 0 }
      tone: {}
  promotoin: {}
! 8:5: execution.promotion.require: must be one of trial, not "trail"; did you mean "trial"?
! 9:5: execution.promotion.maxChanged: must be at least 0
! 10:5: execution.promotion.maxError: must be an integer, not 0.5
! 11:5: execution.promotion.minRuns: must be at least 1
! 12:5: execution.promotion.maxRegresed: unknown field; did you mean "maxRegressed"?
! 14:19: execution.promotion.scores.faithful.maxDrop: must be at least 0
! 14:34: execution.promotion.scores.faithful.maxdrop: unknown field; did you mean "maxDrop"?
! 15:7: execution.promotion.scores.tone: must have min or maxDrop, such as { maxDrop: 0.02 }
! 16:3: execution.promotoin: unknown field; did you mean "promotion"?

model: tools that cannot be read-only
model: openai/gpt-5
tools:
  - { name: a, agent: b, readOnly: true }
  - { name: web_search, webSearch: {}, readOnly: true }
  - { name: c, mcp: { url: "https://c.example" }, readonly: true }
! 7:26: tools.0.readOnly: must be omitted: trials take the results of agents from the recording
! 8:40: tools.1.readOnly: must be omitted: the provider executes the tool within its response
! 9:51: tools.2.readonly: unknown field; did you mean "readOnly"?

code: an invalid model
input: {}
model:
  name: gpt-5
  maxOutputTokens: 0
  temperature: hot
  maxTokens: 5
! 7:3: model.name: The model name "gpt-5" has no known provider. Use "{provider}/{model}" or "{provider}/{model}:{reasoning}" with one of ${PROVIDER_LIST}.
! 8:3: model.maxOutputTokens: must be at least 1
! 9:3: model.temperature: must be a number, not "hot"
! 10:3: model.maxTokens: unknown field; did you mean "maxOutputTokens"?

code: a model that is a number
input: {}
model: 5
! 6:1: model: must be "{provider}/{model}", a list of such names, or an object such as { name: "{provider}/{model}", maxOutputTokens: 4000 }

code: a list with an invalid model
input: {}
model: [openai/gpt-5, gpt-5]
! 6:23: model.1: The model name "gpt-5" has no known provider. Use "{provider}/{model}" or "{provider}/{model}:{reasoning}" with one of ${PROVIDER_LIST}.

model: a budget in dollars for a fallback without a price
model: [openai/gpt-5, openai-compatible/free]
execution: { maxCostUsd: 1 }
! 6:14: execution.maxCostUsd: must be omitted: the model openai-compatible/free has no price. Use maxTokens, or set its price in MODEL_PRICES

code: bounds that contradict their field
input:
  a: { type: string, minItems: 1, maximum: 3 }
  b: { type: array, minItems: 3, maxItems: 2 }
  e: { type: integer, minimum: 1, default: 0 }
  f: { type: string, pattern: "(?=a)" }
  g: { type: object, properties: { h: { type: number, minimum: 2, maximum: 1 } } }
! 6:35: input.a.maximum: requires type: number or integer
! 6:22: input.a.minItems: requires type: array
! 7:34: input.b.maxItems: must not be less than minItems
! 8:35: input.e.default: 0 does not match the field
! 9:22: input.f.pattern: pattern (?=a) is not supported: RE2, which matches in linear time, has no look-around, back-references and repetition counts above 1000
! 10:67: input.g.properties.h.maximum: must not be less than minimum

text: a file that the model cannot read
title: T
input: { a: { type: file } }
output: {}
model: openai/gpt-3.5-turbo
! 3:1: input: has a file that the model cannot read. The model openai/gpt-3.5-turbo does not accept files of type application/pdf. Restrict mediaTypes

model: a web search that the provider does not have
model: openai-compatible/free
tools:
  - name: web_search
    webSearch: {}
! 8:5: tools.0.webSearch: cannot be used. The provider of the model openai-compatible/free does not search the web for it, as the tool web_search requires. Use a model of anthropic or openai that can.

code: a schema that cannot be sent to models
input:
  type: object
  $id: https://x.example/a
  anyOf: [{ type: object, minProperties: 1 }]
! 7:3: input.$id: cannot be sent to models together with allOf, anyOf, oneOf, not, if or $ref at the top level; use $defs and $ref

code: misspelled keys and an unknown key
inputs: {}
input: {}
execution: { useCach: true }
flavour: mild
! 5:1: inputs: unknown field; did you mean "input"?
! 7:14: execution.useCach: unknown field; did you mean "useCache"?
! 8:1: flavour: unknown field; allowed fields: title, description, slug, input, output, model, tools, requireTools, context, code, remote, env, execution, useDynamicLearning, learning, schedules, keys, scorers

code: nested fields of the wrong type
input:
  name: string
  total:
    description: No type.
  order:
    type: object
    properties:
      lines:
        type: array
        items:
          type: strng
          descripton: Misspelt.
  code: { type: string, required: yes, multipleOf: 3 }
  empty: { type: string, enum: [] }
  d: { type: string, format: dat }
  c: { type: string, maxLength: -1 }
! 6:3: input.name: must be an object such as { type: string, description: … }, not "string"
! 7:3: input.total.type: is required and must be one of string, number, integer, boolean, object, array, null, file
! 15:11: input.order.properties.lines.items.type: must be one of string, number, integer, boolean, object, array, null, file, not "strng"; did you mean "string"?
! 16:11: input.order.properties.lines.items.descripton: unknown field; did you mean "description"?
! 17:25: input.code.required: must be a boolean, not "yes"
! 17:40: input.code.multipleOf: unknown field; allowed fields: type, description, required, enum, items, properties, default, mediaTypes, maxBytes, minLength, maxLength, pattern, format, minimum, maximum, minItems, maxItems
! 18:26: input.empty.enum: must not be empty
! 19:22: input.d.format: must be one of date-time, date, time, duration, email, hostname, ipv4, ipv6, uri, uri-reference, uri-template, uuid, json-pointer, relative-json-pointer, regex, not "dat"; did you mean "date"?
! 20:22: input.c.maxLength: must be at least 0

code: defaults and enum values that do not match their type
input:
  total: { type: number, default: none }
  kind:
    type: string
    enum: [a, 1]
    default: c
  list: { type: array, items: { type: number }, default: [1, x] }
  odd: { type: object, properties: { a: { type: string, items: { type: string } } } }
! 6:26: input.total.default: "none" does not match type number
! 9:5: input.kind.enum: 1 does not match type string
! 10:5: input.kind.default: "c" is not one of the enum values
! 11:49: input.list.default: [1,"x"] does not match the field
! 12:57: input.odd.properties.a.items: requires type: array

code: an invalid JSON Schema
input:
  type: object
  required: name
  properties:
    name: { type: strng }
    age:
      type: integer
      minimum: low
! 7:3: input.required: invalid JSON Schema (2020-12): must be array
! 9:13: input.properties.name.type: invalid JSON Schema (2020-12): must be equal to one of the allowed values (array, boolean, integer, null, number, object, string)
! 12:7: input.properties.age.minimum: invalid JSON Schema (2020-12): must be number

code: patterns that may take more than linear time
input:
  type: object
  properties:
    name:
      type: string
      pattern: ^(?!admin)
  patternProperties:
    ^(x-)+: { type: string }
! 10:7: input.properties.name.pattern: pattern ^(?!admin) is not supported: RE2, which matches in linear time, has no look-around, back-references and repetition counts above 1000
! 12:5: input.patternProperties.^(x-)+: pattern ^(x-)+ may take more than linear time: in patternProperties, a pattern with repetitions must start with ^ and have at most one of variable length, and no groups and alternatives

bare: a JSON Schema of another dialect and one that is not an object
title: T
code: true
input:
  $schema: http://json-schema.org/draft-07/schema#
  type: object
output:
  type: array
! 5:3: input.$schema: must be https://json-schema.org/draft/2020-12/schema or omitted
! 8:3: output.type: must be "object" at the top level of a JSON Schema

bare: agent.ts without code: true
title: T
code: false
input: {}
output: {}
! 3:1: code: must be true because the folder contains agent.ts
`

function parseDocument(text: string): BadFolder {
  const [head = '', ...lines] = text.split('\n')
  const [kind = '', name = ''] = head.split(': ')
  const isProblem = (line: string) => line.startsWith('! ')
  const { 'agent.md': agent, ...code } = document(
    ...(KINDS[kind] ?? []),
    ...lines.filter((line) => !isProblem(line)),
  )
  const expected = lines.filter(isProblem).map((line) => `foo/agent.md:${line.slice(2)}`)
  return { name, files: { 'agent.md': agent, ...(/^(code|bare)$/.test(kind) && code) }, expected }
}

/** The name, the files of the folder `foo`, and the problems. */
const FOLDERS: [string, BadFolder['files'], ...string[]][] = [
  ['no folder', {}, 'agent.md:1:1: not found: the folder does not exist'],
  ['no agent.md', { 'agent.ts': CODE }, 'agent.md:1:1: not found: an agent folder must contain agent.md'],
  [
    'a model agent without instructions',
    { 'agent.md': '---\ntitle: T\ninput: {}\noutput: {}\n---\n' },
    'agent.md:2:1: instructions: are required: add text for the model below the front matter',
  ],
  [
    'no front matter',
    { 'agent.md': '# Foo\n---\ntitle: T\n---\n', 'agent.ts': CODE },
    'agent.md:1:1: front matter: must start the file, between two "---" lines',
  ],
  [
    'empty front matter',
    { 'agent.md': '---\n---\n', 'agent.ts': CODE },
    'agent.md:2:1: front matter: must be an object, but is empty',
  ],
  [
    'invalid UTF-8',
    { 'agent.md': Buffer.from('---\ntitle: Caf\xe9\n---\n', 'latin1'), 'agent.ts': CODE },
    'agent.md:1:1: must be UTF-8 text',
  ],
  [
    'a document that is too large',
    { 'agent.md': `---\n---\n${'x'.repeat(150_001)}`, 'agent.ts': CODE },
    'agent.md:1:1: must not be larger than 150000 bytes',
  ],
  [
    'aliases that expand beyond the limit',
    withLines(
      'input:',
      `  a: &a { type: string, description: ${'x'.repeat(1900)} }`,
      ...Array.from({ length: 95 }, (_, i) => `  a${i}: *a`),
    ),
    'agent.md:1:1: expands to 186535 bytes; the limit is 150000',
  ],
  [
    'CRLF line ends after a byte order mark',
    {
      'agent.md': '\uFEFF---\r\ntitle: T\r\ncode: 1\r\ninput: {}\r\noutput: {}\r\n---\r\n',
      'agent.ts': CODE,
    },
    'agent.md:3:1: code: must be a boolean, not 1',
  ],
  [
    'code without agent.ts',
    { 'agent.md': withLines('input: {}')['agent.md'] },
    'agent.md:3:1: code: is true, but the folder contains none of agent.ts, agent.mts, agent.js, agent.mjs',
  ],
  [
    'a syntax error in an imported module and an unresolved import',
    {
      ...withLines('input: {}'),
      'agent.ts': "import './lib/broken.ts'\nimport 'no-such-package'\nexport default () => ({})\n",
      'lib/broken.ts': 'export const a = 1\nconst const\n',
    },
    'agent.ts:2:8: cannot find the package "no-such-package": correct the import, or install it with npm install no-such-package',
    'lib/broken.ts:2:7: Expected identifier but found "const"',
  ],
  [
    'an invalid document and invalid code',
    { ...document('code: true', 'input: {}', 'output: {}'), 'agent.ts': 'export const run = 1\n' },
    'agent.md:2:1: title: is required and must be a string',
    'agent.ts:1:1: must default-export a function run(input, context)',
  ],
]

export const badFolders: BadFolder[] = [
  ...DOCUMENTS.trim().split('\n\n').map(parseDocument),
  ...FOLDERS.map(([name, files, ...problems]) => ({
    name,
    files,
    expected: problems.map((each) => `foo/${each}`),
  })),
  {
    name: 'a file in place of the folder',
    folder: '.keep',
    files: {},
    expected: ['.keep/agent.md:1:1: not found: the path is a file, not a folder'],
  },
  {
    name: 'a folder name that is not a slug',
    folder: 'Foo Bar',
    files: withLines('input: {}'),
    expected: [
      'Foo Bar/agent.md:2:1: slug: is required because the folder name "Foo Bar" is not a valid slug (lowercase words joined by hyphens)',
    ],
  },
]
