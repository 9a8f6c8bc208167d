import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join, relative, resolve } from 'node:path'
import type { ScalarTag, Tags } from 'yaml'
import * as z from 'zod'
import { explainWith } from '../../lib/agents/document/explain-issue.ts'
import { parseYaml, START } from '../../lib/agents/document/yaml-file.ts'
import type { FolderProblem } from '../../lib/agents/load-folder.ts'
import { ExactNumber, fitsDouble } from '../../lib/core/json/exact-number.ts'
import { isJsonObject, isWithinDepth, type Json, type JsonObject } from '../../lib/core/json/json.ts'
import { isJsonPointer } from '../../lib/core/json/pointer.ts'
import { MAX_AGENT_STEPS } from '../../lib/core/limits.ts'
import type { SchemaProblem } from '../../lib/schema/check-declared-schema.ts'
import { CONDITION, checkAssertion, isCondition } from './differences.ts'

/** Next to `agent.md`. */
export const CASES_FILE = 'cases.yaml'

const MAX_NAME_CHARACTERS = 200

const jsonSchema = z.custom<Json>((value) => isJson(value), 'must be a JSON value')
const objectSchema = z
  .custom<JsonObject>(isJsonObject, 'must be an object')
  .refine((value) => isJson(value), 'must contain only JSON values, nested at most 100 levels')

const expectationFields = z.strictObject({
  equals: objectSchema.optional(),
  matches: objectSchema.optional(),
  pointers: z.record(z.string(), jsonSchema).optional(),
  error: z.string().min(1).optional(),
  /** By the name of a tool, of which otherwise no call may fail. */
  tools: z.record(z.string(), z.enum(['may-fail', 'fails'])).optional(),
  /** By the slug of a scorer: an operator and a number. */
  scores: z.record(z.string(), z.string().refine(isCondition, CONDITION)).optional(),
  maxSteps: z.int().min(1).max(MAX_AGENT_STEPS.max).optional(),
  maxCostUsd: z.number().min(0).optional(),
})

/** What a run has to do. Without `error`, it has to succeed. */
export type Expectation = z.infer<typeof expectationFields>

const expectationSchema = expectationFields.check(({ value, issues }) => {
  const add = (path: PropertyKey[], message: string) =>
    void issues.push({ code: 'custom', input: value, path, message })
  for (const name of ['equals', 'matches', 'pointers', 'scores'] as const) {
    if (value.error !== undefined && value[name] !== undefined)
      add([name], 'must be omitted: a run that ends with the expected error has no output')
  }
  for (const [pointer, assertion] of Object.entries(value.pointers ?? {})) {
    if (!isJsonPointer(pointer)) {
      add(['pointers', pointer], 'must be a JSON Pointer (RFC 6901) into the output, such as /items/0/name')
      continue
    }
    for (const { path, message } of checkAssertion(assertion)) add(['pointers', pointer, ...path], message)
  }
})

const DECISIONS = ['approve', 'reject', 'timeout'] as const

const decisionFields = z.strictObject({
  decision: z.enum(DECISIONS),
  note: z.string().optional(),
  /** Replaces what is to be approved. */
  input: objectSchema.optional(),
})

const approvalSchema = z.union([z.enum(DECISIONS), decisionFields])

/** How an approval is decided. */
export type CaseApproval = z.infer<typeof approvalSchema>

const caseFields = z.strictObject({
  name: z
    .string()
    .trim()
    .min(1)
    .max(MAX_NAME_CHARACTERS)
    .refine((name) => !/\p{Cc}/u.test(name), 'must be one line without control characters'),
  input: objectSchema,
  /** By the name of the wait or the tool: each of its approvals, or a list of them in order. */
  approvals: z.record(z.string(), z.union([...approvalSchema.options, z.array(approvalSchema)])).optional(),
  /** By name: the data of the signals that arrive, in order. */
  signals: z.record(z.string(), z.array(jsonSchema)).optional(),
  expect: expectationSchema.default({}),
})

/** A case of `cases.yaml`: an input and what a run with it has to do. */
export type TestCase = z.infer<typeof caseFields>

const casesSchema = z.array(caseFields)

const explainField = explainWith((path) => {
  const fields = { expect: expectationFields, approvals: decisionFields }[String(path[1])] ?? caseFields
  return Object.keys(fields.shape)
})

/** Of the alternatives of a value, the one of its type. */
function explain(issue: z.core.$ZodIssue): SchemaProblem[] {
  if (issue.code !== 'invalid_union') return explainField(issue)
  const { input, path } = issue
  const alternative = Array.isArray(input) ? 2 : isJsonObject(input) ? 1 : 0
  const issues = issue.errors[alternative] ?? issue.errors[0] ?? []
  return issues.flatMap((each) => explain({ ...each, path: [...path, ...each.path] }))
}

/** The numbers of JSON (RFC 8259, section 6). */
const JSON_NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/

/** A number that a double would change is read, and written, as an `ExactNumber`. */
const exactNumber: ScalarTag = {
  tag: 'tag:yaml.org,2002:float',
  default: true,
  identify: (value) => value instanceof ExactNumber,
  test: JSON_NUMBER,
  resolve(text, onError) {
    if (fitsDouble(text)) return Number(text)
    if (!Number.isFinite(Number(text))) onError(`the number ${text} is beyond the range of a double`)
    return new ExactNumber(text)
  },
  stringify: ({ value }) => String(value),
}

/** Options of the `yaml` package for values as they are sent: every digit of a number is kept. */
export const EXACT_YAML = { customTags: (tags: Tags): Tags => [exactNumber, ...tags] }

export type CaseFile = { cases: TestCase[]; problems: FolderProblem[] }

/** Reads the cases of an agent; none if its folder has no `cases.yaml`. */
export async function readCases(folder: string): Promise<CaseFile> {
  const path = join(folder, CASES_FILE)
  return existsSync(path) ? parseCases(await readFile(path, 'utf8'), path) : { cases: [], problems: [] }
}

/** Parses the text of a `cases.yaml`. Numbers are exact. */
export function parseCases(text: string, path: string): CaseFile {
  const file = relative(process.cwd(), resolve(path))
  const toProblem = (problem: Omit<FolderProblem, 'file' | 'field'> & { field?: string }): FolderProblem => ({
    file,
    field: null,
    ...problem,
  })
  const yaml = parseYaml(text, EXACT_YAML)
  if (!('getPosition' in yaml)) return { cases: [], problems: yaml.problems.map(toProblem) }
  const { data, error } = casesSchema.safeParse(yaml.values ?? [], { reportInput: true })
  const found = [...(error?.issues ?? []).flatMap(explain), ...findRepeatedNames(yaml.values)]
  if (data && found.length === 0) return { cases: data, problems: [] }
  const problems = found.map(({ path, message }) =>
    path.length === 0
      ? toProblem({ ...START, message: 'must be a list of cases: - name: …' })
      : toProblem({ ...yaml.getPosition(path), field: formatPath(path, yaml.values), message }),
  )
  return { cases: [], problems: problems.sort((a, b) => a.line - b.line) }
}

/** Not a check of the schema, which zod would leave out if a case has another problem. */
function findRepeatedNames(values: unknown): SchemaProblem[] {
  const names = (Array.isArray(values) ? values : []).map((value) =>
    isJsonObject(value) ? value.name : null,
  )
  return names.flatMap((name, index) =>
    typeof name === 'string' && names.indexOf(name) < index
      ? [{ path: [index, 'name'], message: `is used twice: "${name}"; the names of cases must be unique` }]
      : [],
  )
}

/** `"greets Ada".expect.equals`: the name of a case says more than its number. */
function formatPath([index, ...names]: PropertyKey[], values: unknown): string {
  const name = (values as { name?: unknown }[])[Number(index)]?.name
  const first =
    typeof name === 'string' && names[0] !== 'name' ? JSON.stringify(name) : `case ${Number(index) + 1}`
  return [first, ...names.map(String)].join('.')
}

/** YAML has values that JSON does not: `.nan`, `.inf`, and through aliases also lists that contain themselves. */
const isJson = (value: unknown): value is Json => isWithinDepth(value) && hasJsonTypes(value)

function hasJsonTypes(value: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value)
  if (value === null || value instanceof ExactNumber) return true
  if (typeof value === 'object') return Object.values(value).every(hasJsonTypes)
  return typeof value === 'string' || typeof value === 'boolean'
}
