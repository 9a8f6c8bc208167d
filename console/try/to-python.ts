import { fitsDouble } from '../../lib/core/json/exact-number.ts'
import { type JsonNode, parseJsonTree } from '../schema/json-node.ts'
import {
  INPUT_FILE,
  type Language,
  runUrl,
  type SampleRequest,
  TOKEN_VARIABLE,
  toLiteral,
} from './sample-request.ts'

/** A program for Python 3 without packages. */
export function toPython(request: SampleRequest): string {
  const body = toBody(request.input)
  return `${['json', 'os', 'urllib.request'].map((name) => `import ${name}`).join('\n')}

request = urllib.request.Request(
    ${JSON.stringify(runUrl(request))},
    data=${body},
    headers={
        "Authorization": f"Bearer {os.environ['${TOKEN_VARIABLE}']}",
        "Content-Type": "application/json",
    },
)
with urllib.request.urlopen(request) as response:
    print(json.load(response))
`
}

function toBody(input: string | null): string {
  if (input === null) return `open("${INPUT_FILE}", "rb").read()`
  const node = parseJsonTree(input)
  return isExact(node)
    ? `json.dumps(${toLiteral(node, PYTHON, '    ')}).encode()`
    : `${toText(input)}.encode()`
}

/** Whether Python writes every number as it is: integers of any size, and what a double holds. */
function isExact(node: JsonNode): boolean {
  if (node.type === 'number')
    return node.source !== '-0' && (/^-?\d+$/.test(node.source) || fitsDouble(node.source))
  if (node.type === 'array') return node.items.every(isExact)
  if (node.type !== 'object') return true
  const names = new Set(node.members.map(({ name }) => name))
  return names.size === node.members.length && node.members.every(({ value }) => isExact(value))
}

function wrap(brackets: '{}' | '[]', parts: string[], indent: string): string {
  const [open = '', close = ''] = brackets
  if (parts.length === 0) return open + close
  return `${open}\n${parts.map((part) => `${indent}    ${part},`).join('\n')}\n${indent}${close}`
}

/** The escapes that `JSON.stringify` writes mean the same in Python. */
const toText = (text: string) => JSON.stringify(text)

const PYTHON: Language = {
  indent: '    ',
  name: toText,
  text: toText,
  number: (source) => source,
  boolean: (value) => (value ? 'True' : 'False'),
  null: 'None',
  wrap,
}
