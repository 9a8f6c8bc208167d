import { Client, SdkHttpError, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import * as z from 'zod'
import type { JsonObject } from '../../core/json/json.ts'
import { ToolError } from '../tool.ts'
import { rawResult } from './mcp-message.ts'

const CLIENT = { name: 'agent-execution-service', version: '1' }
const CLOSE_TIMEOUT_MS = 2_000
/** How long a closed stream waits at least until it is resumed: a server may ask for less (`retry: 0`). */
const MIN_RESUME_MS = 100

type Connected = { client: Client; transport: StreamableHTTPClientTransport }

/** The SDK does not check results: it does not see them (`mcp-message.ts`), and the server validates them. */
const ANYTHING = z.looseObject({})

/** A connection to an MCP server of either generation: revision 2026-07-28, or those that begin with `initialize`. */
export class McpConnection {
  private readonly url: URL
  private readonly fetch: typeof fetch
  private readonly timeout: number
  private connected: Connected | undefined
  private connecting: Promise<Client> | undefined
  private readonly lost: Client[] = []

  /** @param timeout of each request, in ms */
  constructor(url: URL, fetchMcp: typeof fetch, timeout: number) {
    this.url = url
    this.fetch = fetchMcp
    this.timeout = timeout
  }

  /**
   * Asks for the newest revision first. Servers of 2025 reject that request in many ways, such as with status 500 or
   * without a response. Any failure is therefore followed by `initialize`, whose error is thrown.
   * @throws an Error for `toToolError`
   */
  async connect(): Promise<void> {
    try {
      await this.connectAs('auto')
    } catch (error) {
      if (findToolError(error)) throw error
      await this.close()
      await this.connectAs('legacy')
    }
  }

  private async connectAs(mode: 'auto' | 'legacy'): Promise<Client> {
    const transport = new StreamableHTTPClientTransport(this.url, {
      fetch: this.fetch,
      reconnectionScheduler: (resume, delay) => {
        const timer = setTimeout(resume, Math.max(delay, MIN_RESUME_MS))
        return () => clearTimeout(timer)
      },
    })
    const client = new Client(CLIENT, {
      versionNegotiation: { mode, probe: { timeoutMs: this.timeout / 2 } },
    })
    this.connected = { client, transport }
    await client.connect(transport, { timeout: this.timeout })
    return client
  }

  /** @returns the result as the server wrote it. @throws an Error for `toToolError` */
  async listTools(cursor: string | undefined): Promise<JsonObject> {
    const request = { method: 'tools/list', params: cursor === undefined ? {} : { cursor } }
    const options = { timeout: this.timeout }
    return rawResult(await this.send((client) => client.request(request, ANYTHING, options)))
  }

  /** @returns the result as the server wrote it. @throws an Error for `toToolError` */
  async callTool(
    params: { name: string; arguments: JsonObject; _meta: JsonObject },
    inputSchema: JsonObject,
    signal: AbortSignal,
  ): Promise<JsonObject> {
    // The client has its own timeout (default 60 s). `callTool` of tools must time out first.
    const timeout = this.timeout + 5_000
    const toolDefinition = { name: params.name, inputSchema: { ...inputSchema, type: 'object' as const } }
    const options = { signal, timeout, toolDefinition }
    return rawResult(await this.send((client) => client.callTool(params, options)))
  }

  /** Sends a request once more if its session is gone, in a new one, which requests at the same time share. */
  private async send<T>(request: (client: Client) => Promise<T>): Promise<T> {
    const used = this.connected
    if (!used) throw new Error('The MCP client is not connected.')
    try {
      return await request(used.client)
    } catch (error) {
      if (!used.transport.sessionId || !isSessionLost(error)) throw error
      if (this.connected === used) {
        this.lost.push(used.client)
        this.connecting = this.connectAs('legacy').catch((failure: unknown) => {
          this.connected = used
          throw failure
        })
      }
      return request((await this.connecting) ?? used.client)
    }
  }

  /** Terminates the session, if the server has one. */
  async close(): Promise<void> {
    for (const client of this.lost.splice(0)) await client.close()
    if (!this.connected) return
    const { client, transport } = this.connected
    const terminated = transport.terminateSession().catch(() => undefined)
    await withTimeout(CLOSE_TIMEOUT_MS, terminated, () => undefined)
    await client.close()
  }
}

/** Specification of 2025-11-25, Transports, Session Management: 404. Some servers respond with 400, and say why. */
const isSessionLost = (error: unknown): boolean =>
  error instanceof SdkHttpError &&
  (error.status === 404 || (error.status === 400 && /session/i.test(error.message)))

/** The client wraps errors of `fetch` while it negotiates. */
function findToolError(error: unknown): ToolError | undefined {
  for (let each = error; each instanceof Error; each = each.cause) if (each instanceof ToolError) return each
  return undefined
}

export function toToolError(error: unknown): ToolError {
  const { message } = error as Error
  return (
    findToolError(error) ?? new ToolError(`MCP server error: ${message}`, { isTransient: true, cause: error })
  )
}

/** Resolves with the result of `work`, or of `onTimeout` if it takes longer. */
export async function withTimeout<T>(timeoutMs: number, work: Promise<T>, onTimeout: () => T): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, timeoutMs)
  })
  try {
    return await Promise.race([work, timeout.then(onTimeout)])
  } finally {
    clearTimeout(timer)
  }
}
