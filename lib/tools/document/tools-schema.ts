import * as z from 'zod'
import type { JsonObject } from '../../core/json.ts'
import { checkDeclaredSchema } from '../../schema/check-declared-schema.ts'
import {
  checkHeaders,
  checkInputReferences,
  checkUrl,
  type Report,
  SECRET_NOT_ALLOWED,
} from './check-http.ts'
import { type ToolDocument, toolFields } from './tool-fields.ts'

const KINDS = ['http', 'lambda', 'mcp', 'agent'] as const
const MAX_TOOLS = 64

/** The fields that a tool gets from elsewhere. An agent has a description, which a document may override. */
const DEFINED_BY = {
  mcp: { source: 'the MCP server', fields: ['description', 'input'] },
  agent: { source: 'the agent', fields: ['input'] },
}

/** An entry of `tools` in an `agent.md`. */
const toolSchema = toolFields.check(({ value, issues }) => {
  checkTool(value, (path, message) => {
    issues.push({ code: 'custom', input: null, path, message })
  })
})

/** `tools` in an `agent.md`. */
export const toolsSchema = z
  .array(toolSchema)
  .max(MAX_TOOLS)
  .check(({ value, issues }) => {
    value.forEach(({ name }, index) => {
      const isDuplicate = value.slice(0, index).some((other) => other.name === name)
      const message = `"${name}" is already the name of another tool`
      if (isDuplicate) issues.push({ code: 'custom', input: name, path: [index, 'name'], message })
    })
  })

function checkTool(tool: ToolDocument, report: Report): void {
  const given = KINDS.filter((kind) => tool[kind] !== undefined)
  const [kind] = given
  if (given.length !== 1 || !kind) {
    const found = given.length === 0 ? 'none' : given.join(' and ')
    report([], `must have exactly one of ${KINDS.join(', ')}, but has ${found}`)
    return
  }
  for (const name of ['description', 'input'] as const) {
    const isGiven = tool[name] !== undefined
    if (kind === 'mcp' || kind === 'agent') {
      const { source, fields } = DEFINED_BY[kind]
      if (isGiven && fields.includes(name)) report([name], `must be omitted: ${source} defines it`)
    } else if (!isGiven) report([name], `is required for tools of kind ${kind}`)
  }
  for (const { path, message } of tool.input ? checkDeclaredSchema(tool.input as unknown as JsonObject) : [])
    report(['input', ...path], message)
  checkSecrets(tool, report)
  const endpoint = tool.http ?? tool.mcp
  if (!endpoint) return
  checkHeaders(endpoint.headers, [kind, 'headers'], report)
  const isUrlValid = checkUrl(endpoint, [kind, 'url'], report)
  if (tool.http && isUrlValid) checkInputReferences(tool.http, tool.input ?? {}, report)
}

/**
 * Secrets are only allowed in header values: URLs and bodies are logged by servers and proxies. `checkHeaders` and
 * `checkUrl` check the headers and URL of an endpoint.
 */
function checkSecrets(value: unknown, report: Report, path: PropertyKey[] = []): void {
  if (typeof value === 'string' && value.includes('${secret:')) report(path, SECRET_NOT_ALLOWED)
  if (typeof value !== 'object' || value === null) return
  for (const [key, child] of Object.entries(value)) {
    const isEndpoint = path[0] === 'http' || path[0] === 'mcp'
    if (!isEndpoint || (key !== 'headers' && key !== 'url')) checkSecrets(child, report, [...path, key])
  }
}
