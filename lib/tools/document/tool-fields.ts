import * as z from 'zod'
import { isSlug } from '../../core/ids.ts'
import { APPROVAL_TIMEOUT_SECONDS, MAX_RESULT_BYTES } from '../../core/limits.ts'
import { FINAL_ANSWER } from '../../core/model.ts'
import { fieldMapSchema } from '../../schema/check-declared-schema.ts'
import { ONLY_SECRET_REFERENCE } from '../../secret-store.ts'

const TIMEOUT_SECONDS = { min: 1, max: 900, default: 60 }

/** `name`, `name:version`, or an ARN (AWS Lambda API reference, Invoke, FunctionName). */
const FUNCTION =
  /^(arn:aws[a-z-]*:lambda:[a-z0-9-]+:\d{12}:function:)?[A-Za-z0-9_-]{1,64}(:[A-Za-z0-9$_-]{1,128})?$/

/** The host of a URL, with the port unless it is the scheme's default. */
export const hostSchema = z
  .string()
  .regex(/^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(:\d{1,5})?$/i, 'must be a host such as "localhost:8080"')

export const endpointShape = {
  url: z.string().min(1).max(2_000),
  headers: z.record(z.string(), z.string().max(4_000)).default({}),
  /** Hosts that may have a private address or use plain HTTP, with the port unless it is the scheme's default. */
  allowedHosts: z.array(hostSchema).max(16).default([]),
}

const httpFields = z.strictObject({
  method: z.enum(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']),
  ...endpointShape,
  /** Inputs sent in the query, whatever the method. `http-tool.ts` has the rule for the others. */
  query: z.array(z.string()).default([]),
  /** Inputs sent in the JSON body, whatever the method. */
  body: z.array(z.string()).default([]),
})

export const lambdaFields = z.strictObject({
  function: z.string().regex(FUNCTION, 'must be the name or ARN of a Lambda function'),
})

const parameter = z.string().min(1).max(1_000)

/** The grant for client credentials of OAuth 2.0 (RFC 6749, section 4.4). */
const oauthFields = z.strictObject({
  tokenUrl: endpointShape.url,
  clientId: parameter,
  clientSecret: z
    .string()
    .regex(ONLY_SECRET_REFERENCE, `must be a secret reference such as \${secret:CRM_SECRET}`),
  /** Where the client authenticates: in the header `Authorization`, or in the body. */
  authentication: z.enum(['basic', 'body']).default('basic'),
  scope: parameter.optional(),
  audience: parameter.optional(),
  /** RFC 8707 */
  resource: parameter.optional(),
})

const mcpFields = z.strictObject({
  ...endpointShape,
  /** The tools that the model gets, by their names on the server; all of them by default. */
  tools: z.array(z.string().min(1).max(200)).min(1).max(200).optional(),
  oauth: oauthFields.optional(),
})

const domains = z
  .array(
    z
      .string()
      .regex(
        /^([a-z0-9-]+\.)+[a-z0-9-]+(\/\S*)?$/i,
        'must be a domain such as "example.com", without a scheme',
      ),
  )
  .min(1)
  .max(100)
  .optional()

const webSearchFields = z.strictObject({
  /** Searches within one response. */
  maxUses: z.int().min(1).max(20).default(5),
  allowedDomains: domains,
  blockedDomains: domains,
})

const approvalFields = z.strictObject({
  /** A JSON Schema of the arguments that need an approval; all of them by default. */
  when: z.record(z.string(), z.unknown()).optional(),
  /** The token that started the run cannot decide. */
  notByCaller: z.boolean().optional(),
  /** The arguments that decide, which approvers see first. */
  show: z.array(z.string().max(200)).min(1).max(8).optional(),
})

/** The kinds of tools, with the fields of each. */
const kindFields = z.strictObject({
  http: httpFields,
  lambda: lambdaFields,
  mcp: mcpFields,
  agent: z.string().refine(isSlug, 'must be the slug of an agent'),
  webSearch: webSearchFields,
})

export type ToolKind = keyof typeof kindFields.shape
export const TOOL_KINDS = Object.keys(kindFields.shape) as ToolKind[]

/** The fields that a tool gets from elsewhere. An agent has a description, which a document may override. */
export const DEFINED_BY: { [kind in ToolKind]?: { source: string; fields: string[] } } = {
  mcp: { source: 'the MCP server', fields: ['description', 'input'] },
  agent: { source: 'the agent', fields: ['input'] },
  webSearch: { source: 'the provider', fields: ['description', 'input'] },
}

/** The fields of an entry of `tools` in an `agent.md`. `tools-schema.ts` adds the rules that span several fields. */
export const toolFields = z.strictObject({
  name: z
    .string()
    .regex(
      /^[A-Za-z][A-Za-z0-9_-]{0,63}$/,
      'must start with a letter and contain at most 64 letters, digits, "_" or "-"',
    )
    .refine((name) => name !== FINAL_ANSWER, `must not be "${FINAL_ANSWER}", which is reserved`),
  description: z.string().min(1).max(2_000).optional(),
  input: fieldMapSchema.optional(),
  timeoutSeconds: z.int().min(TIMEOUT_SECONDS.min).max(TIMEOUT_SECONDS.max).default(TIMEOUT_SECONDS.default),
  maxResultBytes: z.int().min(MAX_RESULT_BYTES.min).max(MAX_RESULT_BYTES.max).optional(),
  approval: z.union([z.boolean(), approvalFields]).optional(),
  /** Calls change nothing: a trial may make them. */
  readOnly: z.boolean().optional(),
  approvalTimeoutSeconds: z
    .int()
    .min(APPROVAL_TIMEOUT_SECONDS.min)
    .max(APPROVAL_TIMEOUT_SECONDS.max)
    .optional(),
  ...kindFields.partial().shape,
})

export type ToolDocument = z.infer<typeof toolFields>
export type HttpDocument = z.infer<typeof httpFields>
export type LambdaDocument = z.infer<typeof lambdaFields>
export type McpDocument = z.infer<typeof mcpFields>
export type OauthDocument = z.infer<typeof oauthFields>
export type WebSearchDocument = z.infer<typeof webSearchFields>

/** The names of the fields allowed at a path within a tool, for error messages; null within a field map. */
export function getKnownToolFields(path: PropertyKey[]): string[] | null {
  if (path.length === 0) return Object.keys(toolFields.shape)
  if (path.join('.') === 'mcp.oauth') return Object.keys(oauthFields.shape)
  if (path.join('.') === 'approval') return Object.keys(approvalFields.shape)
  if (path.length > 1) return null
  const fields = kindFields.shape[path[0] as ToolKind]
  return fields && 'shape' in fields ? Object.keys(fields.shape) : null
}
