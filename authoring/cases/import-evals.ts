import { findInputProblems } from '../../lib/agents/document/check-schedule-inputs.ts'
import type { ReceivedLine } from '../../lib/core/batch.ts'
import type { Violation } from '../../lib/core/errors.ts'
import { isJsonObject, type Json, type JsonObject } from '../../lib/core/json/json.ts'
import { escapeName } from '../../lib/core/json/pointer.ts'
import { compileValidator, type Validator } from '../../lib/schema/validate/validate.ts'
import type { TestCase } from './case-file.ts'
import { valueAt } from './differences.ts'

/** Paths of values in a line, such as `item.question`, by the fields of the agent that get them. */
export type FieldPaths = Record<string, string>

/** Fields without a path get the value of their name. `expect: false` imports inputs only. */
export type ImportOptions = { input: FieldPaths; expect: FieldPaths | false }

/** The JSON Schemas of an agent. */
export type Schemas = { input: JsonObject; output: JsonObject }

/** A line of a dataset without a name yet. */
export type ImportedCase = Omit<TestCase, 'name'>

/**
 * The cases of the lines of a dataset for OpenAI Evals: `{"item": {…}}` of the Evals API, or `{"input": …, "ideal": …}`
 * of openai/evals, where `input` is a text or messages, and `ideal` an answer or a list of allowed ones.
 * @returns `violations`: what is wrong with lines; no case may be used then
 */
export async function casesOfEvals(
  lines: ReceivedLine[],
  schemas: Schemas,
  options: ImportOptions,
): Promise<{ cases: ImportedCase[]; violations: Violation[] }> {
  const isOutput = compileValidator({ ...schemas.output, required: [] })
  const read = lines.map((received) => {
    const sample = new Sample(received)
    const testCase = sample.problems.length === 0 ? toCase(sample, schemas, options, isOutput) : null
    return { line: received.line, problems: sample.problems, testCase }
  })
  const valid = read.flatMap((each) => (each.testCase && each.problems.length === 0 ? [each] : []))
  const cases = valid.flatMap(({ testCase }) => testCase ?? [])
  for (const { schedule: index, violations } of await findInputProblems(schemas.input, cases))
    valid[index]?.problems.push(`The input does not match the schema: ${violations[0]?.message}`)
  const violations = read
    .filter(({ problems }) => problems.length > 0)
    .map(({ line, problems }) => ({ line, path: '', message: `Line ${line}: ${problems.join(' ')}` }))
  return { cases, violations }
}

function toCase(sample: Sample, schemas: Schemas, options: ImportOptions, isOutput: Validator): ImportedCase {
  const input = sample.collect('--input', schemas.input, options.input, [])
  for (const name of requiredOf(schemas.input))
    if (!Object.hasOwn(input.values, name))
      sample.addMissing(`the required input field ${name}`, `--input ${name}=`, [])
  if (options.expect === false) return { input: input.values, expect: {} }
  const output = sample.collect('--expect', schemas.output, options.expect, input.paths)
  if (isEmpty(output.values) && isEmpty(options.expect))
    sample.addMissing(
      'any field of the output',
      `--expect ${fieldsOf(schemas.output)[0]}=`,
      input.paths,
      ', or import inputs only with --no-expect',
    )
  const matches: JsonObject = {}
  const pointers: JsonObject = {}
  for (const [name, value] of Object.entries(output.values)) {
    const answers = Array.isArray(value) && typeOf(schemas.output, name) !== 'array' ? value : null
    if (answers) pointers[`/${escapeName(name)}`] = { enum: answers }
    else matches[name] = value
    const [violation] = (answers ?? [value]).flatMap((answer) => isOutput({ [name]: answer }))
    if (violation) sample.problems.push(`The expected output does not match the schema: ${violation.message}`)
  }
  return {
    input: input.values,
    expect: { ...(!isEmpty(matches) && { matches }), ...(!isEmpty(pointers) && { pointers }) },
  }
}

const isEmpty = (values: object) => Object.keys(values).length === 0

class Sample {
  readonly problems: string[] = []
  private readonly value: JsonObject = {}
  /** Where names are looked up; empty for the line itself. */
  private readonly root: string[] = []

  constructor(received: ReceivedLine) {
    const value = 'value' in received ? received.value : null
    if ('problem' in received) this.problems.push(`The line ${received.problem}.`)
    else if (isJsonObject(value) && (isJsonObject(value.item) || Object.hasOwn(value, 'input'))) {
      this.value = value
      if (isJsonObject(value.item)) this.root = ['item']
    } else this.problems.push('The line must be {"item": {…}} or {"input": …, "ideal": …}.')
  }

  /** @param taken paths of values that are not found again by their names */
  collect(option: string, schema: JsonObject, given: FieldPaths, taken: string[]) {
    const values: JsonObject = {}
    const paths: string[] = []
    for (const name of new Set([...fieldsOf(schema), ...Object.keys(given)])) {
      const isGiven = Object.hasOwn(given, name)
      const path = isGiven ? (given[name] ?? '') : [...this.root, name].join('.')
      const value = !isGiven && taken.includes(path) ? undefined : valueAt(this.value, path.split('.'))
      if (value === undefined && isGiven) this.problems.push(`It has no ${path} (${option} ${name}=${path}).`)
      if (value === undefined) continue
      values[name] = typeOf(schema, name) === 'string' ? this.textOf(value, path) : value
      paths.push(path)
    }
    return { values, paths }
  }

  /** The text of the only message of a user, if the value is a list of messages; otherwise the value. */
  private textOf(value: Json, path: string): Json {
    const isMessage = (each: Json) => isJsonObject(each) && typeof each.role === 'string'
    if (!Array.isArray(value) || value.length === 0 || !value.every(isMessage)) return value
    const texts = (value as JsonObject[]).flatMap(({ role, content }) =>
      role === 'user' && typeof content === 'string' ? [content] : [],
    )
    const [text = ''] = texts
    if (texts.length !== 1)
      this.problems.push(
        `${path} has ${texts.length} texts of users instead of one: name one by its path, such as ${path}.${value.length - 1}.content.`,
      )
    return text
  }

  /** Says which option finds a value. */
  addMissing(what: string, option: string, taken: string[], otherwise = ''): void {
    const names = Object.keys((this.root.length > 0 ? this.value.item : this.value) as JsonObject)
    const paths = names.map((name) => [...this.root, name].join('.'))
    const free = paths.filter((path) => !taken.includes(path))
    const found = (option.startsWith('--expect') ? free.at(-1) : free[0]) ?? 'item.…'
    const name = `name its path, such as ${option}${found}${otherwise}`
    this.problems.push(`It has no value for ${what}: ${name}. It has ${paths.join(', ') || 'no values'}.`)
  }
}

const propertiesOf = ({ properties }: JsonObject): JsonObject => (isJsonObject(properties) ? properties : {})

export const fieldsOf = (schema: JsonObject): string[] => Object.keys(propertiesOf(schema))

const requiredOf = ({ required }: JsonObject): string[] =>
  Array.isArray(required) ? required.filter((name) => typeof name === 'string') : []

function typeOf(schema: JsonObject, name: string): Json | undefined {
  const declared = fieldsOf(schema).includes(name) ? propertiesOf(schema)[name] : null
  return isJsonObject(declared) ? declared.type : undefined
}
