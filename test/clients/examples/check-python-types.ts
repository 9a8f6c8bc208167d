import { execFile } from 'node:child_process'
import { cpSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import fc from 'fast-check'
import type { Json } from '../../../lib/core/json/json.ts'
import { compileValidator } from '../../../lib/schema/validate/validate.ts'
import { plainSchemas, validInputs, wildSchemas } from '../../schema/random-schemas.ts'

const SEED = 1
const SCHEMAS = 300
const MAX_OUTPUT_BYTES = 20_000_000
const EXAMPLES = fileURLToPath(new URL('../../../examples/python', import.meta.url))

const run = promisify(execFile)

/**
 * Checks the example with mypy, and that types of random schemas are valid Python and accept what the schemas accept.
 * Where mypy should report an error, a comment ignores it, and mypy reports each one that ignores nothing.
 */
export async function checkPythonTypes(
  commandOf: (command: string) => string,
  environment: NodeJS.ProcessEnv,
  folder: string,
): Promise<void> {
  const { agents, values } = randomAgents()
  writeFileSync(join(folder, 'agents.json'), JSON.stringify(agents))
  const args = ['-m', 'agent_execution', 'types', '--agents', 'agents.json']
  const options = { cwd: folder, env: environment, maxBuffer: MAX_OUTPUT_BYTES }
  const { stdout } = await run(commandOf('python'), args, options)
  writeFileSync(join(folder, 'random_types.py'), `${stdout}\n\n${values}`)
  writeFileSync(join(folder, 'rejected.py'), REJECTED)
  for (const name of ['example.py', 'agent_types.py']) cpSync(join(EXAMPLES, name), join(folder, name))
  const files = ['example.py', 'agent_types.py', 'rejected.py', 'random_types.py']
  const check = ['--strict', '--no-error-summary', '--follow-imports=silent', '--cache-dir', '.mypy_cache']
  await run(commandOf('mypy'), [...check, ...files], options).catch(({ stdout, stderr }) => {
    throw new Error(`mypy:\n${stdout}${stderr}`)
  })
}

const REJECTED = `
from agent_types import RedactPiiInput, SummarizeTextInput, TriageTicketOutput

a: RedactPiiInput = {"contents": "x"}  # type: ignore[typeddict-item, typeddict-unknown-key]
b: RedactPiiInput = {}  # type: ignore[typeddict-item]
c: SummarizeTextInput = {"text": "x"}
d: SummarizeTextInput = {"text": "x", "sentences": "3"}  # type: ignore[typeddict-item]


def e(output: TriageTicketOutput) -> bool:
    return output["priority"] == "highest"  # type: ignore[comparison-overlap]
`

/** Agents with random schemas, and values that these accept, as lines of Python. */
function randomAgents() {
  const plain = plainSchemas.chain((schema) => fc.tuple(fc.constant(schema), fc.array(validInputs(schema))))
  const wild = fc.tuple(wildSchemas, fc.constant([] as Json[]))
  const samples = fc.sample(fc.oneof(plain, wild), { seed: SEED, numRuns: SCHEMAS })
  const agents = samples.map(([inputSchema], index) => ({
    ...{ slug: `agent-${index}`, description: null },
    ...{ inputSchema, outputSchema: {} },
  }))
  const lines = samples.flatMap(([schema, values], index) => {
    const validate = compileValidator(schema)
    const valid = values.filter((value) => validate(value).length === 0)
    return valid.map((value, number) => `a${index}_${number}: Agent${index}Input = ${toExpression(value)}\n`)
  })
  if (lines.length < SCHEMAS) throw new Error('There are too few values.')
  return { agents, values: lines.join('') }
}

/** A value as an expression of Python. */
function toExpression(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(toExpression).join(', ')}]`
  if (value === null) return 'None'
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  if (typeof value !== 'object') return JSON.stringify(value)
  const entries = Object.entries(value).map(
    ([name, part]) => `${JSON.stringify(name)}: ${toExpression(part)}`,
  )
  return `{${entries.join(', ')}}`
}
