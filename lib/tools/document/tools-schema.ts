import * as z from 'zod'
import type { JsonObject } from '../../core/json/json.ts'
import { isJsonPointer, parseJsonPointer } from '../../core/json/pointer.ts'
import { WEB_SEARCH } from '../../core/model.ts'
import { checkDeclaredSchema } from '../../schema/check-declared-schema.ts'
import { toWhen } from '../tool.ts'
import {
  checkHeaders,
  checkInputReferences,
  checkUrl,
  type Report,
  SECRET_NOT_ALLOWED,
} from './check-http.ts'
import {
  DEFINED_BY,
  getKnownToolFields,
  type McpDocument,
  type OauthDocument,
  TOOL_KINDS,
  type ToolDocument,
  toolFields,
  type WebSearchDocument,
} from './tool-fields.ts'

const MAX_TOOLS = 64

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
  const given = TOOL_KINDS.filter((kind) => tool[kind] !== undefined)
  const [kind] = given
  if (given.length !== 1 || !kind) {
    const found = given.length === 0 ? 'none' : given.join(' and ')
    report([], `must have exactly one of ${TOOL_KINDS.join(', ')}, but has ${found}`)
    return
  }
  for (const name of ['description', 'input'] as const) {
    const isGiven = tool[name] !== undefined
    const definition = DEFINED_BY[kind]
    if (isGiven && definition?.fields.includes(name))
      report([name], `must be omitted: ${definition.source} defines it`)
    if (!isGiven && !definition) report([name], `is required for tools of kind ${kind}`)
  }
  for (const { path, message } of tool.input ? checkDeclaredSchema(tool.input as unknown as JsonObject) : [])
    report(['input', ...path], message)
  checkApproval(tool, report)
  checkReadOnly(tool, report)
  checkSecrets(tool, report)
  if (tool.webSearch) checkWebSearch(tool.name, tool.webSearch, report)
  const endpoint = tool[kind]
  if (typeof endpoint !== 'object' || !('url' in endpoint)) return
  checkHeaders(endpoint.headers, [kind, 'headers'], report)
  const isUrlValid = checkUrl(endpoint, [kind, 'url'], report)
  if (tool.http && isUrlValid) checkInputReferences(tool.http, tool.input ?? {}, report)
  if (tool.mcp?.oauth) checkOauth(tool.mcp, tool.mcp.oauth, report)
}

function checkApproval(
  { approval, approvalTimeoutSeconds, webSearch, input }: ToolDocument,
  report: Report,
): void {
  if (approvalTimeoutSeconds !== undefined && !approval)
    report(['approvalTimeoutSeconds'], 'must be omitted without approval')
  if (!approval) return
  if (webSearch) report(['approval'], 'must be omitted: the provider executes the tool within its response')
  const { when, show = [] } = approval === true ? {} : approval
  show.forEach((pointer, index) => {
    const [name = ''] = parseJsonPointer(pointer)
    const wrong = (message: string) => report(['approval', 'show', index], message)
    if (pointer === '' || !isJsonPointer(pointer))
      wrong('must be a JSON Pointer to an argument, such as "/orderId"')
    else if (show.indexOf(pointer) < index) wrong(`"${pointer}" is listed twice`)
    // The inputs of MCP tools and agents are declared elsewhere.
    else if (input && !Object.hasOwn(input, name))
      wrong(`"${pointer}" is no input of the tool: ${Object.keys(input).join(', ')}`)
  })
  if (!when) return
  const { type = 'object' } = when
  if (type !== 'object')
    report(['approval', 'when', 'type'], 'must be "object": it is the schema of the arguments')
  else
    for (const { path, message } of checkDeclaredSchema(toWhen(when), { strictTypes: false }))
      report(['approval', 'when', ...path], message)
}

function checkReadOnly({ readOnly, agent, webSearch }: ToolDocument, report: Report): void {
  if (!readOnly) return
  if (webSearch) report(['readOnly'], 'must be omitted: the provider executes the tool within its response')
  if (agent !== undefined)
    report(['readOnly'], 'must be omitted: trials take the results of agents from the recording')
}

function checkWebSearch(
  name: string,
  { allowedDomains, blockedDomains }: WebSearchDocument,
  report: Report,
): void {
  if (name !== WEB_SEARCH) report(['name'], `must be "${WEB_SEARCH}" for a tool of kind webSearch`)
  if (allowedDomains && blockedDomains)
    report(['webSearch', 'blockedDomains'], 'must be omitted beside allowedDomains')
}

function checkOauth(
  { headers, allowedHosts }: McpDocument,
  { tokenUrl }: OauthDocument,
  report: Report,
): void {
  checkUrl({ url: tokenUrl, allowedHosts }, ['mcp', 'oauth', 'tokenUrl'], report)
  const header = Object.keys(headers).find((name) => name.toLowerCase() === 'authorization')
  if (header) report(['mcp', 'headers', header], 'must be omitted: oauth sets it')
}

/**
 * Secrets are only allowed in header values: URLs and bodies are logged by servers and proxies. `checkHeaders` and
 * `checkUrl` check the headers and URL of an endpoint, and the schema the client secret of `oauth`.
 */
function checkSecrets(value: unknown, report: Report, path: PropertyKey[] = []): void {
  if (typeof value === 'string' && value.includes('${secret:')) report(path, SECRET_NOT_ALLOWED)
  if (typeof value !== 'object' || value === null) return
  for (const [key, child] of Object.entries(value)) {
    const isEndpoint = getKnownToolFields(path.slice(0, 1))?.includes('url')
    const isChecked = isEndpoint && ['headers', 'url', 'tokenUrl', 'clientSecret'].includes(key)
    if (!isChecked) checkSecrets(child, report, [...path, key])
  }
}
