/** Path segments, encoded. Agents are named by slug or ID. */
export const agentPath = (agent: string): string => `/v1/agents/${encodeURIComponent(agent)}`
export const versionPath = (agent: string, id: string): string =>
  `${agentPath(agent)}/versions/${encodeURIComponent(id)}`
export const executionPath = (id: string): string => `/v1/agent_executions/${encodeURIComponent(id)}`

/** A query without the parameters that are undefined; empty without any. */
export function toQuery(parameters: Record<string, unknown>): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(parameters))
    if (value !== undefined) query.set(name, String(value))
  return `${query}` && `?${query}`
}

/** The query of the next page in a `Link` header (RFC 8288). Its path is that of this page, whatever a proxy has made of it. */
export const nextQuery = (headers: Headers): string | undefined =>
  /<[^>?]*(\?[^>]*)>\s*;\s*rel="?next"?/.exec(headers.get('Link') ?? '')?.[1]
