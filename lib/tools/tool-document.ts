import * as z from 'zod'
import { isSlug } from '../core/ids.ts'
import type { JsonObject } from '../core/json.ts'
import { FINAL_ANSWER } from '../core/model.ts'
import { checkDeclaredSchema } from '../schema/check-declared-schema.ts'
import { fieldMapSchema } from '../schema/field-map-schema.ts'
import { checkHeaders, checkHttp, checkWords, type Report, urlFault } from './check-tool.ts'
import { TOOL_TIMEOUT_SECONDS } from './limits.ts'

const KINDS = ['http', 'lambda', 'mcp', 'agent'] as const
const MAX_TOOLS = 64

/** `name`, `name:version`, or an ARN (AWS Lambda, API reference of Invoke: FunctionName). */
const FUNCTION =
  /^(arn:aws[a-z-]*:lambda:[a-z0-9-]+:\d{12}:function:)?[A-Za-z0-9_-]{1,64}(:[A-Za-z0-9$_-]{1,128})?$/

const hostSchema = z
  .string()
  .regex(/^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(:\d{1,5})?$/i, 'must be a host such as "localhost:8080"')

const targetShape = {
  url: z.string().min(1).max(2_000),
  headers: z.record(z.string(), z.string().max(4_000)).default({}),
  /** Hosts that may have a private address or speak plain HTTP; with its port, unless that is the scheme's own. */
  allowedHosts: z.array(hostSchema).max(16).default([]),
}

export const httpSchema = z.strictObject({
  method: z.enum(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']),
  ...targetShape,
  /** Inputs that go to the query, whatever the method; `http-request.ts` says where the others go. */
  query: z.array(z.string()).default([]),
  /** Inputs that go to the JSON body, whatever the method. */
  body: z.array(z.string()).default([]),
})

export const lambdaSchema = z.strictObject({
  function: z.string().regex(FUNCTION, "must be a Lambda function's name or ARN"),
})

export const mcpSchema = z.strictObject(targetShape)

/** One entry of `tools` in an `agent.md`. */
export const toolSchema = z
  .strictObject({
    name: z
      .string()
      .regex(
        /^[A-Za-z][A-Za-z0-9_-]{0,63}$/,
        'must be letters, digits, "_" and "-", a letter first, at most 64',
      )
      .refine((name) => name !== FINAL_ANSWER, `must not be "${FINAL_ANSWER}", which gives the result`),
    description: z.string().min(1).max(2_000).optional(),
    input: fieldMapSchema.optional(),
    timeoutSeconds: z
      .int()
      .min(TOOL_TIMEOUT_SECONDS.min)
      .max(TOOL_TIMEOUT_SECONDS.max)
      .default(TOOL_TIMEOUT_SECONDS.default),
    http: httpSchema.optional(),
    lambda: lambdaSchema.optional(),
    mcp: mcpSchema.optional(),
    agent: z.string().refine(isSlug, 'must be the slug of an agent').optional(),
  })
  .check(({ value, issues }) => {
    const report: Report = (path, message, { isMissing } = { isMissing: false }) => {
      issues.push({ code: 'custom', input: isMissing ? undefined : null, path, message })
    }
    const given = KINDS.filter((kind) => value[kind] !== undefined)
    const [kind] = given
    if (given.length !== 1 || !kind) {
      const found = given.length === 0 ? 'none of them' : given.join(' and ')
      return report([], `must have exactly one of ${KINDS.join(', ')}, and has ${found}`)
    }
    const isDeclared = kind === 'http' || kind === 'lambda'
    for (const name of ['description', 'input'] as const) {
      const isGiven = value[name] !== undefined
      if (isDeclared && !isGiven)
        report([name], `must be given for a tool of kind ${kind}`, { isMissing: true })
      if (!isDeclared && isGiven) report([name], `must be left out: it comes from the ${SOURCE[kind]}`)
    }
    for (const finding of value.input ? checkDeclaredSchema(value.input as unknown as JsonObject) : [])
      report(['input', ...finding.path], finding.message)
    checkWords(value, report)
    const target = value.http ?? value.mcp
    if (!target) return
    checkHeaders(target.headers, [kind, 'headers'], report)
    const fault = urlFault(target)
    if (fault) return report([kind, 'url'], fault)
    if (value.http) checkHttp(value.http, value.input ?? {}, report)
  })

const SOURCE = { mcp: "server's own list of tools", agent: 'agent itself', http: '', lambda: '' }

/** The `tools` of an `agent.md`. */
export const toolsSchema = z
  .array(toolSchema)
  .max(MAX_TOOLS)
  .check(({ value, issues }) => {
    value.forEach(({ name }, index) => {
      const isTaken = value.slice(0, index).some((other) => other.name === name)
      const message = `is "${name}", which another tool has already`
      if (isTaken) issues.push({ code: 'custom', input: name, path: [index, 'name'], message })
    })
  })

export type ToolDocument = z.infer<typeof toolSchema>
export type HttpDocument = z.infer<typeof httpSchema>
export type LambdaDocument = z.infer<typeof lambdaSchema>
export type McpDocument = z.infer<typeof mcpSchema>

/** The fields known at a path within one entry of `tools`, for messages; null where a field map's are. */
export function knownToolKeys(path: PropertyKey[]): string[] | null {
  if (path.length === 0) return Object.keys(toolSchema.shape)
  if (path.length > 1) return null
  const shapes = { http: httpSchema.shape, lambda: lambdaSchema.shape, mcp: mcpSchema.shape }
  const shape = shapes[path[0] as keyof typeof shapes]
  return shape ? Object.keys(shape) : null
}
